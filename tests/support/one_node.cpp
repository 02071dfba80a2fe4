#include "tests/support/one_node.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "graphs/base/error.hpp"

namespace espalier::test {
namespace {

void store(Tensor& t, std::int64_t i, double v) {
  switch (t.dtype()) {
    case DType::f32:
      t.as_mutable<float>()[i] = static_cast<float>(v);
      return;
    case DType::f64:
      t.as_mutable<double>()[i] = v;
      return;
    case DType::f16:
      static_cast<std::uint16_t*>(t.mutable_data())[i] = f32_to_f16(static_cast<float>(v));
      return;
    case DType::bf16:
      static_cast<std::uint16_t*>(t.mutable_data())[i] = f32_to_bf16(static_cast<float>(v));
      return;
    case DType::i32:
      t.as_mutable<std::int32_t>()[i] = static_cast<std::int32_t>(v * 9);
      return;
    case DType::i64:
      t.as_mutable<std::int64_t>()[i] = static_cast<std::int64_t>(v * 9);
      return;
    case DType::u8:
      t.as_mutable<std::uint8_t>()[i] = static_cast<std::uint8_t>(v * 9 + 9);
      return;
    case DType::i8:
      t.as_mutable<std::int8_t>()[i] = static_cast<std::int8_t>(v * 9);
      return;
    default:
      throw InternalError("random_tensor: dtype not served");
  }
}

}  // namespace

Tensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Tensor t(dtype, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) store(t, i, uniform(random));
  return t;
}

OneNode::OneNode(const LayerTable& layers, std::string op, Attributes attributes) : layers_(layers) {
  graph_.add_node(std::move(op), "node", {}, {"y"}, std::move(attributes));
}

OneNode& OneNode::input(Tensor value) {
  const ValueId v = graph_.add_value("x" + std::to_string(values_.size()), value.type());
  graph_.inputs.push_back(v);
  graph_.nodes[0].inputs.push_back(v);
  values_.push_back(std::move(value));
  return *this;
}

OneNode& OneNode::constant(Tensor value) {
  graph_.nodes[0].inputs.push_back(graph_.add_constant("c" + std::to_string(values_.size()), value));
  values_.push_back(std::move(value));
  return *this;
}

OneNode& OneNode::absent() {
  graph_.nodes[0].inputs.push_back(kAbsent);
  values_.emplace_back();
  return *this;
}

OneNode& OneNode::outputs(int count) {
  while (static_cast<int>(graph_.nodes[0].outputs.size()) < count)
    graph_.nodes[0].outputs.push_back(graph_.add_value("y" + std::to_string(graph_.nodes[0].outputs.size())));
  return *this;
}

OneNode& OneNode::fuse(PostOp op) {
  graph_.nodes[0].post_ops.push_back(std::move(op));
  return *this;
}

OneNode& OneNode::fuse_binary(const std::string& op, std::mt19937& random) {
  const TensorType type = infer()[0];
  input(random_tensor(type.dtype, type.shape, random));
  return fuse({op, 0, 0, static_cast<int>(values_.size()) - 1});
}

std::vector<TensorType> OneNode::infer() {
  Node& node = graph_.nodes[0];
  for (ValueId v : node.outputs) graph_.values[v].type.reset();
  auto types = layers_.at(node).infer(view_of(graph_, node));
  for (std::size_t i = 0; i < types.size() && i < node.outputs.size(); ++i)
    graph_.values[node.outputs[i]].type = types[i];
  return types;
}

std::string OneNode::refusal(std::string_view name, const KernelOptions& options) {
  infer();
  for (const Implementation& i : implementations())
    if (i.name == name) return i.refuses(view_of(graph_, graph_.nodes[0]), options);
  return "no such implementation";
}

std::vector<Tensor> OneNode::run(const KernelOptions& options, std::string* chosen) {
  const auto types = infer();
  const auto cache = make_weight_cache();
  PrepareContext context{*cache, options};
  const Node& node = graph_.nodes[0];
  const NodeView view = view_of(graph_, node);
  const Selection selection = select_implementation(layers_.at(node), view, options);
  if (selection.chosen == nullptr) throw InputError("no implementation applies");
  if (chosen != nullptr) *chosen = selection.chosen->name;
  const auto kernel = selection.chosen->prepare(view, context);
  std::vector<Tensor> results;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Tensor& t : values_) in.push_back(t.data());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    results.emplace_back(types[i].dtype, types[i].shape);
    out.push_back(results.back().mutable_data());
  }
  const std::size_t scratch = (kernel->scratch_bytes() + 63) / 64 * 64;
  const std::unique_ptr<void, void (*)(void*)> memory(
      scratch == 0 ? nullptr : std::aligned_alloc(64, scratch), std::free);
  kernel->run({in, out, memory.get()});
  return results;
}

double relative_error(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return std::numeric_limits<double>::infinity();
  const auto x = a.to_double(), y = b.to_double();
  double difference = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(x[i] - y[i]));
  }
  for (double v : y)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return difference / largest;
}

}  // namespace espalier::test
