#include "graphs/passes/editor.hpp"

#include <algorithm>

namespace espalier {

Editor::Editor(Graph& graph, const LayerTable& layers)
    : graph_(graph),
      layers_(layers),
      producers_(graph.producers()),
      uses_(graph.values.size(), 0),
      forwarded_(graph.values.size(), kAbsent) {
  for (const Node& n : graph.nodes) count(n, 1);
  for (ValueId v : graph.outputs) uses_[static_cast<std::size_t>(v)] += kOutput;
}

void Editor::count(const Node& n, int sign) {
  for (ValueId v : n.inputs)
    if (v != kAbsent) uses_[static_cast<std::size_t>(resolve(v))] += sign;
}

ValueId Editor::resolve(ValueId v) const {
  while (forwarded_[static_cast<std::size_t>(v)] != kAbsent) v = forwarded_[static_cast<std::size_t>(v)];
  return v;
}

void Editor::resolve_inputs(std::int32_t i) {
  for (ValueId& v : node(i).inputs)
    if (v != kAbsent) v = resolve(v);
}

void Editor::grow() {
  producers_.resize(graph_.values.size(), -1);
  uses_.resize(graph_.values.size(), 0);
  forwarded_.resize(graph_.values.size(), kAbsent);
}

std::int32_t Editor::producer(ValueId v) const {
  return v == kAbsent ? -1 : producers_[static_cast<std::size_t>(v)];
}

const Node* Editor::producer(ValueId v, std::string_view op) const {
  const std::int32_t i = producer(v);
  if (i < 0) return nullptr;
  const Node& n = graph_.nodes[static_cast<std::size_t>(i)];
  return n.op == op && n.post_ops.empty() ? &n : nullptr;
}

ValueId Editor::add_constant(const std::string& name, Tensor tensor) {
  const ValueId v = graph_.add_constant(name, std::move(tensor));
  grow();
  return v;
}

ValueId Editor::add_value(const std::string& name, const TensorType& type) {
  const ValueId v = graph_.add_value(name, type);
  grow();
  return v;
}

void Editor::replace(std::int32_t i, Node next) {
  erase(i);
  grow();
  count(next, 1);
  for (ValueId v : next.outputs)
    if (v != kAbsent) producers_[static_cast<std::size_t>(v)] = i;
  node(i) = std::move(next);
}

void Editor::erase(std::int32_t i) {
  Node& old = node(i);
  count(old, -1);
  for (ValueId v : old.outputs)
    if (v != kAbsent && producers_[static_cast<std::size_t>(v)] == i)
      producers_[static_cast<std::size_t>(v)] = -1;
  old.inputs.clear();
  old.outputs.clear();
  old.op.clear();
}

bool Editor::forward(ValueId from, ValueId to) {
  if (is_output(from)) {
    const std::int32_t giver = producer(to);
    if (is_output(to) || giver < 0) return false;
    std::replace(node(giver).outputs.begin(), node(giver).outputs.end(), to, from);
    producers_[static_cast<std::size_t>(from)] = giver;
    producers_[static_cast<std::size_t>(to)] = -1;
    std::swap(from, to);  // what read the inner value now reads the output
  }
  forwarded_[static_cast<std::size_t>(from)] = to;
  uses_[static_cast<std::size_t>(to)] += uses_[static_cast<std::size_t>(from)];
  uses_[static_cast<std::size_t>(from)] = 0;
  return true;
}

void Editor::finish() {
  for (std::int32_t i = 0; i < size(); ++i) resolve_inputs(i);
  std::erase_if(graph_.nodes, [](const Node& n) { return n.op.empty(); });
}

std::optional<double> Editor::scalar(ValueId v) const {
  const Tensor* t = graph_.constant(v);
  if (t == nullptr || t->elements() != 1) return std::nullopt;
  return t->to_double()[0];
}

bool Editor::is_float(ValueId v) const {
  return v != kAbsent && espalier::is_float(graph_.type(v).dtype);
}

std::optional<Tensor> Editor::channel_vector(ValueId v, std::int64_t channels) const {
  const Tensor* t = graph_.constant(v);
  if (t == nullptr || t->dtype() != DType::f32) return std::nullopt;
  const Shape& shape = t->shape();
  const bool one = t->elements() == 1;
  if (!one && (shape.elements() != channels || shape.rank() == 0 || shape[-1] != channels))
    return std::nullopt;
  Tensor out(DType::f32, {channels});
  const auto values = t->as<float>();
  for (std::int64_t c = 0; c < channels; ++c) out.as_mutable<float>()[c] = values[one ? 0 : c];
  return out;
}

void apply_rules(Graph& graph, const LayerTable& layers, std::initializer_list<Rule> rules) {
  Editor editor(graph, layers);
  for (std::int32_t i = 0; i < editor.size(); ++i) {
    editor.resolve_inputs(i);
    for (bool changed = true; changed && !editor.erased(i);) {
      changed = false;
      for (const Rule rule : rules)
        if (!editor.erased(i)) changed = rule(editor, i) || changed;
    }
  }
  editor.finish();
}

}  // namespace espalier
