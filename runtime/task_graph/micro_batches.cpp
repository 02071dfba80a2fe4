#include "runtime/task_graph/micro_batches.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/platform/host_memory.hpp"

namespace espalier {
namespace {

/// Two sizes that no broadcast extent equals and whose difference shows.
constexpr std::array<std::int64_t, 2> kSizes{2, 3};
constexpr int kNotBatched = -1, kMixed = -2;

/// The one axis with extent kSizes[0] in a and kSizes[1] in b, all others equal; kNotBatched when the shapes
/// are equal, else kMixed.
int changing_axis(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return kMixed;
  int axis = kNotBatched;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] == b[i]) continue;
    if (axis != kNotBatched || a[i] != kSizes[0] || b[i] != kSizes[1]) return kMixed;
    axis = i;
  }
  return axis;
}

bool one_of(std::string_view op, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), op) != set.end();
}

/// Whether a node computes across samples although its output still has them all along `axis`.
bool mixes(const Graph& graph, const Node& node, int axis) {
  const std::string& op = node.op;
  const int rank = graph.type(node.inputs[0]).shape.rank();
  const auto attribute = [&](std::int64_t fallback) {
    const std::int64_t a = node.attributes.get_int("axis", fallback);
    return static_cast<int>(a < 0 ? a + rank : a);
  };
  if (one_of(op, {"Softmax", "LogSoftmax", "Hardmax", "TopK", "LpNormalization"}))
    return attribute(-1) == axis;
  if (op == "LayerNormalization") return attribute(-1) <= axis;
  if (one_of(op, {"LSTM", "GRU", "RNN"})) return axis == 0;
  if (one_of(op, {"BatchNormalization"})) return node.attributes.get_int("training_mode", 0) != 0;
  // along the batch these permute or select samples, which keeps the extent by accident only
  if (one_of(op, {"Gather", "GatherElements", "ScatterElements"}))
    return !graph.constant(node.inputs[0]) && attribute(0) == axis;
  return one_of(op, {"CumSum", "ReverseSequence", "GatherND", "ScatterND", "Compress", "NonZero", "Unique",
                     "Slice", "Loop", "Scan", "If", "Einsum", "Det", "MeanVarianceNormalization"}) &&
         (op != "Slice" || axis == 0);
}

std::string check_node(const Graph& a, const Graph& b, const Node& node, const std::vector<int>& axis) {
  bool batched = false;
  for (const ValueId v : node.inputs)
    batched = batched || (v != kAbsent && axis[static_cast<std::size_t>(v)] >= 0);
  for (const ValueId v : node.outputs) {
    if (v == kAbsent) continue;
    const int now = changing_axis(a.type(v).shape, b.type(v).shape);
    if (now == kMixed || (now == kNotBatched && batched) || (now >= 0 && (!batched || mixes(a, node, now))))
      return fmt::format("node {} ({}) computes across the samples of a batch", node.name, node.op);
  }
  return {};
}

/// Inputs and outputs of all micro-batches are in memory together.
void require_io_memory(const Graph& part, std::int64_t batch, std::int64_t parts) {
  double bytes = 0;
  for (const auto* side : {&part.inputs, &part.outputs})
    for (const ValueId v : *side) bytes += static_cast<double>(part.type(v).bytes());
  bytes *= static_cast<double>(parts);
  require_memory(bytes > 9e18 ? std::int64_t{7} << 60 : static_cast<std::int64_t>(bytes),
                 fmt::format("a batch of {}", batch));
}

}  // namespace

bool is_batch_name(const std::string& dimension) {
  return one_of(dimension, {"batch", "batch_size", "batchsize", "Batch", "BatchSize", "bs", "N"});
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
  std::vector<int> axis(a.values.size(), kNotBatched);
  bool any = false;
  for (const ValueId v : a.inputs) {
    const int found = changing_axis(a.type(v).shape, b.type(v).shape);
    axes.inputs.push_back(found);
    axis[static_cast<std::size_t>(v)] = found;
    any = any || found >= 0;
    if (found == kMixed) axes.reason = "an input's shape does not follow the batch along one axis";
  }
  if (!any) axes.reason = "no input has a batch extent";
  for (std::size_t n = 0; n < a.nodes.size() && axes.reason.empty(); ++n) {
    axes.reason = check_node(a, b, a.nodes[n], axis);
    for (const ValueId v : a.nodes[n].outputs)
      if (v != kAbsent && axes.reason.empty())
        axis[static_cast<std::size_t>(v)] = changing_axis(a.type(v).shape, b.type(v).shape);
  }
  for (const ValueId v : a.outputs) {
    axes.outputs.push_back(axis[static_cast<std::size_t>(v)]);
    if (axes.reason.empty() && axes.outputs.back() < 0)
      axes.reason = fmt::format("output {} has no batch extent", a.values[static_cast<std::size_t>(v)].name);
  }
  return axes;
}

MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch) {
  MicroBatches cut;
  cut.batch = batch;
  const bool wants = batch > 1 && micro_batch > 0 && micro_batch < batch;
  const BatchAxes axes =
      wants ? find_batch_axes(network, layers, binding) : BatchAxes{{}, {}, "not asked for"};
  const auto add = [&](std::int64_t samples) {
    Graph bound = bind(network, layers, with_batch(network, binding, samples));
    optimise(bound, layers);
    cut.variants.push_back({std::make_shared<const Graph>(std::move(bound)), samples});
  };
  if (!axes.can_cut()) {
    add(batch);
    cut.units.push_back(0);
    cut.input_axes.assign(cut.variants[0].graph->inputs.size(), -1);
    cut.output_axes.assign(cut.variants[0].graph->outputs.size(), -1);
    return cut;
  }
  cut.input_axes = axes.inputs;
  cut.output_axes = axes.outputs;
  add(micro_batch);
  require_io_memory(*cut.variants[0].graph, batch, batch / micro_batch);
  cut.units.assign(static_cast<std::size_t>(batch / micro_batch), 0);
  if (batch % micro_batch != 0) {
    add(batch % micro_batch);
    cut.units.push_back(1);
  }
  return cut;
}

}  // namespace espalier
