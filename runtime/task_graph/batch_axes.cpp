#include "runtime/task_graph/batch_axes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/batch_rules.hpp"

namespace espalier {
namespace {

/// Two sizes that share no divisor, so that an extent that follows the batch shows.
constexpr std::array<std::int64_t, 2> kSizes{2, 3};

/// The network bound to both sizes, and by value where its samples lie.
class Tracer {
 public:
  Tracer(const Graph& a, const Graph& b) : a_(a), b_(b), at_(a.values.size()) {}

  BatchAxes run() {
    BatchAxes axes;
    bool any = false;
    for (const ValueId v : a_.inputs) {
      at(v).axis = changing_axis(v);
      any = any || at(v).axis >= 0;
      if (at(v).axis == kMixed || (at(v).axis >= 0 && !one_row_a_sample(v)))
        axes.reason = "an input's shape does not follow the batch along one axis";
      axes.inputs.push_back(at(v).axis);
    }
    if (!any && axes.reason.empty()) axes.reason = "no input has a batch extent";
    for (std::size_t v = 0; v < at_.size() && axes.reason.empty(); ++v)
      if (a_.values[v].constant) axes.reason = constant(static_cast<ValueId>(v));
    for (std::size_t n = 0; n < a_.nodes.size() && axes.reason.empty(); ++n) axes.reason = node(n);
    for (const ValueId v : a_.outputs) {
      axes.outputs.push_back(at(v).axis);
      if (axes.reason.empty() && (at(v).axis < 0 || !one_row_a_sample(v)))
        axes.reason = fmt::format("output {} has no batch extent", name(v));
    }
    return axes;
  }

 private:
  SampleAxis& at(ValueId v) { return at_[static_cast<std::size_t>(v)]; }
  const std::string& name(ValueId v) const { return a_.values[static_cast<std::size_t>(v)].name; }
  bool one_row_a_sample(ValueId v) { return a_.type(v).shape[at(v).axis] == kSizes[0]; }

  /// The one axis whose extents are as the sizes, all others being equal; kNotBatched when the shapes are
  /// equal, else kMixed.
  int changing_axis(ValueId v) const {
    const Shape &a = a_.type(v).shape, &b = b_.type(v).shape;
    if (a.rank() != b.rank()) return kMixed;
    int axis = kNotBatched;
    for (int i = 0; i < a.rank(); ++i) {
      if (a[i] == b[i]) continue;
      if (axis != kNotBatched || a[i] % kSizes[0] != 0 || a[i] / kSizes[0] * kSizes[1] != b[i]) return kMixed;
      axis = i;
    }
    return axis;
  }

  /// What folding made of shapes may have the batch's extent: then all samples must be alike.
  std::string constant(ValueId v) {
    const Tensor &a = *a_.values[static_cast<std::size_t>(v)].constant,
                 &b = *b_.values[static_cast<std::size_t>(v)].constant;
    const int axis = changing_axis(v);
    at(v).axis = axis;
    if (axis == kNotBatched) return {};
    if (axis == kMixed || a.shape().elements() == 0 || !samples_are_alike(a, a, axis, kSizes[0]) ||
        !samples_are_alike(b, a, axis, kSizes[1]))
      return fmt::format("{} depends on the size of the batch", name(v));
    at(v).rows = a.shape()[axis] / kSizes[0];
    return {};
  }

  /// Whether each of the `samples` blocks of t along the axis is the first of `model`'s.
  static bool samples_are_alike(const Tensor& t, const Tensor& model, int axis, std::int64_t samples) {
    const auto element = static_cast<std::int64_t>(size_of(t.dtype()));
    const std::int64_t block = t.shape().elements(axis, t.shape().rank()) / samples * element;
    const std::int64_t model_step = model.shape().elements(axis, t.shape().rank()) * element;
    const auto* data = static_cast<const std::byte*>(t.data());
    const auto* first = static_cast<const std::byte*>(model.data());
    for (std::int64_t o = 0; o < t.shape().elements(0, axis); ++o)
      for (std::int64_t s = 0; s < samples; ++s)
        if (std::memcmp(data + (o * samples + s) * block, first + o * model_step,
                        static_cast<std::size_t>(block)) != 0)
          return false;
    return true;
  }

  /// Whether a constant of one shape has other values for another batch.
  bool changes(ValueId v) const {
    const Tensor *a = a_.constant(v), *b = b_.constant(v);
    return a != nullptr && b != nullptr && a->data() != b->data() && a->type() == b->type() &&
           std::memcmp(a->data(), b->data(), static_cast<std::size_t>(a->bytes())) != 0;
  }

  std::string node(std::size_t n) {
    const Node& node = a_.nodes[n];
    bool batched = false;
    std::vector<SampleAxis> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      inputs.push_back(v == kAbsent ? SampleAxis{} : at(v));
      if (is_shape_operand(node, i)) {
        inputs.back() = {};
        continue;
      }
      batched = batched || inputs.back().axis >= 0;
      if (v != kAbsent && changes(v))
        return fmt::format("node {} ({}) computes with the size of the batch", node.name, node.op);
    }
    for (const ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      const int axis = changing_axis(v);
      if (axis == kNotBatched && !batched) continue;
      std::optional<std::int64_t> rows;
      if (axis >= 0 && batched) rows = rows_of_sample(a_, node, inputs, v, axis, kSizes[0]);
      if (axis >= 0 && !batched && repeats_for_samples(a_, node, axis))
        rows = a_.type(v).shape[axis] / kSizes[0];
      if (!rows)
        return fmt::format("node {} ({}) computes across the samples of a batch", node.name, node.op);
      at(v) = {axis, *rows};
    }
    return {};
  }

  const Graph& a_;
  const Graph& b_;
  std::vector<SampleAxis> at_;
};

/// The leading axis of each value, or a reason.
std::vector<int> leading_axes(const Graph& graph, const std::vector<ValueId>& values, std::string& reason) {
  for (const ValueId v : values) {
    const TensorType& type = graph.type(v);
    if (type.shape.rank() == 0 || type.shape[0] != 1)
      reason = fmt::format("{} is {} for one sample: no leading extent of 1",
                           graph.values[static_cast<std::size_t>(v)].name, type.to_string());
  }
  return std::vector<int>(values.size(), 0);
}

}  // namespace

BatchAxes axes_of_one_sample(const Graph& network, const LayerTable& layers, const Binding& binding) {
  BatchAxes axes;
  for (const ValueId v : network.inputs) {
    const Value& value = network.values[static_cast<std::size_t>(v)];
    if (!value.type || value.type->shape.rank() == 0 || value.type->shape[0] != 1)
      axes.reason = fmt::format("input {} is not declared for one sample", value.name);
  }
  if (!axes.can_cut()) return axes;
  const Graph one = bind(network, layers, with_batch(network, binding, 1));
  axes.inputs = leading_axes(one, one.inputs, axes.reason);
  axes.outputs = leading_axes(one, one.outputs, axes.reason);
  return axes;
}

bool is_batch_name(const std::string& dimension) {
  constexpr std::array<std::string_view, 7> names{"batch",     "batch_size", "batchsize", "Batch",
                                                  "BatchSize", "bs",         "N"};
  return std::find(names.begin(), names.end(), dimension) != names.end();
}

Binding with_batch(const Graph& network, Binding binding, std::int64_t batch) {
  bool named = false;
  for (const ValueId v : network.inputs)
    for (const std::string& name : network.values[static_cast<std::size_t>(v)].dim_names)
      if (is_batch_name(name)) {
        binding.dims[name] = batch;
        named = true;
      }
  binding.batch = named ? 0 : batch;
  return binding;
}

BatchAxes find_batch_axes(const Graph& network, const LayerTable& layers, const Binding& binding) {
  BatchAxes axes;
  std::array<Graph, 2> bound;
  try {
    for (std::size_t i = 0; i < 2; ++i)
      bound[i] = bind(network, layers, with_batch(network, binding, kSizes[i]));
  } catch (const InputError& e) {
    axes.reason = fmt::format("the network takes one size of batch only ({})", e.what());
    return axes;
  }
  const auto& [a, b] = bound;
  if (a.nodes.size() != b.nodes.size() || a.values.size() != b.values.size()) {
    axes.reason = "the network's structure depends on the batch";
    return axes;
  }
  for (std::size_t v = 0; v < a.values.size(); ++v)
    if (a.values[v].constant.has_value() != b.values[v].constant.has_value()) {
      axes.reason = "the network's structure depends on the batch";
      return axes;
    }
  return Tracer(a, b).run();
}

}  // namespace espalier
