#include "graphs/passes/fuse_patterns.hpp"

#include <cmath>

namespace espalier {
namespace {

bool near(double a, double b) {
  return std::fabs(a - b) <= 1e-4 * std::fabs(b);
}

/// A value as c times a product of factors that are no constants.
struct Product {
  double c = 1;
  std::vector<ValueId> factors;
};

/// Patterns are shallow; longer chains are left alone.
constexpr int kDepth = 8;

/// Expands v when it is a product that only this chain reads (`root`: whoever reads it).
void gather(const Editor& editor, ValueId v, bool root, Product& product, int depth = kDepth) {
  if (const auto constant = editor.scalar(v)) {
    product.c *= *constant;
    return;
  }
  const Node* mul = editor.producer(v, "Mul");
  const Node* div = editor.producer(v, "Div");
  const bool mine = depth > 0 && (root || editor.single_use(v)) && product.factors.size() < 4;
  if (mine && mul != nullptr) {
    gather(editor, mul->inputs[0], false, product, depth - 1);
    gather(editor, mul->inputs[1], false, product, depth - 1);
  } else if (const auto by = mine && div != nullptr ? editor.scalar(div->inputs[1]) : std::nullopt;
             by && *by != 0) {
    product.c /= *by;
    gather(editor, div->inputs[0], false, product, depth - 1);
  } else {
    product.factors.push_back(v);
  }
}

Product product_of(const Editor& editor, ValueId v, bool root = false) {
  Product product;
  gather(editor, v, root, product);
  return product;
}

/// v as op(input) read here alone: the input, or kAbsent.
ValueId inside(const Editor& editor, ValueId v, std::string_view op) {
  const Node* node = editor.producer(v, op);
  return node != nullptr && editor.single_use(v) ? node->inputs[0] : kAbsent;
}

/// v = constant + rest: the rest, or kAbsent.
ValueId plus_constant(const Editor& editor, ValueId v, double constant) {
  const Node* add = editor.producer(v, "Add");
  if (add == nullptr || !editor.single_use(v)) return kAbsent;
  for (int k : {0, 1}) {
    const auto c = editor.scalar(add->inputs[static_cast<std::size_t>(k)]);
    if (c && near(*c, constant)) return add->inputs[static_cast<std::size_t>(1 - k)];
  }
  return kAbsent;
}

bool is_scaled(const Editor& editor, ValueId v, ValueId x, double scale) {
  const Product p = product_of(editor, v);
  return near(p.c, scale) && p.factors.size() == 1 && p.factors[0] == x;
}

/// v = 0.044715 x^3
bool is_cubic_term(const Editor& editor, ValueId v, ValueId x) {
  const Product p = product_of(editor, v);
  if (!near(p.c, 0.044715)) return false;
  int power = 0;
  for (ValueId f : p.factors) {
    if (f == x) {
      ++power;
      continue;
    }
    const Node* pow = editor.producer(f, "Pow");
    const auto exponent =
        pow != nullptr && pow->inputs[0] == x ? editor.scalar(pow->inputs[1]) : std::nullopt;
    if (!exponent || (*exponent != 2 && *exponent != 3)) return false;
    power += static_cast<int>(*exponent);
  }
  return power == 3;
}

bool is_tanh_argument(const Editor& editor, ValueId v, ValueId x) {
  const Product p = product_of(editor, v);
  if (p.factors.size() != 1 || !near(p.c, std::sqrt(2 / M_PI))) return false;
  const Node* add = editor.producer(p.factors[0], "Add");
  if (add == nullptr || !editor.single_use(p.factors[0])) return false;
  return (add->inputs[0] == x && is_cubic_term(editor, add->inputs[1], x)) ||
         (add->inputs[1] == x && is_cubic_term(editor, add->inputs[0], x));
}

bool is_clip_0_6(const Editor& editor, ValueId v, ValueId x) {
  const Node* clip = editor.producer(v, "Clip");
  if (clip == nullptr || !editor.single_use(v) || clip->inputs.size() != 3) return false;
  return editor.scalar(clip->inputs[1]) == 0.0 && editor.scalar(clip->inputs[2]) == 6.0 &&
         plus_constant(editor, clip->inputs[0], 3) == x;
}

/// Attributes of the activation c * x * gate, and its op; empty when it is none.
std::string match(const Editor& editor, ValueId x, ValueId gate, double c, Attributes& attributes) {
  const auto is = [](double a, double b) { return near(a, b); };
  if (is(c, 1)) {
    if (inside(editor, gate, "Sigmoid") == x) return "Silu";
    if (const ValueId soft = inside(editor, gate, "Tanh");
        soft != kAbsent && inside(editor, soft, "Softplus") == x)
      return "Mish";
    const Node* hard = editor.producer(gate, "HardSigmoid");
    if (hard != nullptr && inside(editor, gate, "HardSigmoid") == x &&
        is(hard->attributes.get_float("alpha", 0.2), 1.0 / 6) &&
        is(hard->attributes.get_float("beta", 0.5), 0.5))
      return "HardSwish";
  }
  if (is(c, 1.0 / 6) && is_clip_0_6(editor, gate, x)) return "HardSwish";
  const ValueId bell = is(c, 0.5) ? plus_constant(editor, gate, 1) : kAbsent;
  if (bell == kAbsent) return {};
  if (const ValueId e = inside(editor, bell, "Erf"); e != kAbsent && is_scaled(editor, e, x, std::sqrt(0.5)))
    return "Gelu";
  if (const ValueId t = inside(editor, bell, "Tanh"); t != kAbsent && is_tanh_argument(editor, t, x)) {
    attributes.set("approximate", std::string("tanh"));
    return "Gelu";
  }
  return {};
}

}  // namespace

bool fuse_patterns(Editor& editor, std::int32_t i) {
  const Node& node = editor.node(i);
  if ((node.op != "Mul" && node.op != "Div") || !node.post_ops.empty() || !editor.is_float(node.outputs[0]))
    return false;
  const Product product = product_of(editor, node.outputs[0], true);
  if (product.factors.size() != 2) return false;
  for (int k : {0, 1}) {
    const ValueId x = product.factors[static_cast<std::size_t>(k)];
    Node fused;
    fused.op =
        match(editor, x, product.factors[static_cast<std::size_t>(1 - k)], product.c, fused.attributes);
    if (fused.op.empty() || editor.layers().find(fused.op) == nullptr) continue;
    if (editor.graph().type(x) != editor.graph().type(node.outputs[0])) continue;
    fused.name = node.name;
    fused.inputs = {x};
    fused.outputs = node.outputs;
    editor.replace(i, std::move(fused));  // what the pattern had inside is dead now
    return true;
  }
  return false;
}

}  // namespace espalier
