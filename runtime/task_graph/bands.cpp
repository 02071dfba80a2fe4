#include "runtime/task_graph/bands.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <tuple>

#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

constexpr auto kWhole = static_cast<std::size_t>(-1);
constexpr double kWorthwhile = 20e-6;  ///< seconds of a node below which parts are not worth their tasks

class Splitter {
 public:
  Splitter(const Graph& graph, const LayerTable& layers, unsigned bands, std::span<const double> seconds)
      : original_(graph), layers_(layers), bands_(bands), seconds_(seconds) {
    result_.graph = graph;
    result_.graph.nodes.clear();
  }

  BandedGraph run() {
    for (std::size_t n = 0; n < original_.nodes.size(); ++n) {
      const Node& node = original_.nodes[n];
      const bool split =
          !is_alias(layers_, node) &&
          (by_rows(node, seconds_[n]) || by_columns(node, seconds_[n]) || by_partial_averages(node));
      if (!split) add(node, kWhole);
    }
    return std::move(result_);
  }

 private:
  void add(Node node, std::size_t lane) {
    result_.graph.nodes.push_back(std::move(node));
    result_.lanes.push_back(static_cast<std::int32_t>(lane));
  }

  /// A view of `bytes` at `offset` of the parent under `type`; equal ranges are one value.
  ValueId view(ValueId parent, std::int64_t offset, TensorType type, bool written) {
    const auto key = std::tuple{parent, offset, type.bytes()};
    if (const auto it = ranges_.find(key); it != ranges_.end() && !written) return it->second;
    const ValueId v = result_.graph.add_value(
        fmt::format("{}[{}]", result_.graph.values[static_cast<std::size_t>(parent)].name, offset),
        std::move(type));
    result_.views[v] = {parent, offset};
    ranges_[key] = v;
    return v;
  }

  ValueId rows_of(ValueId v, RowRange rows, bool written = false) {
    TensorType type = original_.type(v);
    if (!written && rows.begin == 0 && rows.end == type.shape[1]) return v;
    const std::int64_t row =
        type.shape.elements(2, type.shape.rank()) * static_cast<std::int64_t>(size_of(type.dtype));
    type.shape[1] = rows.end - rows.begin;
    return view(v, rows.begin * row, std::move(type), written);
  }

  /// Rows of a post-operation's or broadcast input whose row axis is not axis 1.
  ValueId input_rows(ValueId v, RowRange rows, int output_rank) {
    TensorType type = original_.type(v);
    const int axis = type.shape.rank() - (output_rank - 1);
    if (rows.begin == 0 && rows.end == type.shape[axis]) return v;
    const std::int64_t row =
        type.shape.elements(axis + 1, type.shape.rank()) * static_cast<std::int64_t>(size_of(type.dtype));
    type.shape[axis] = rows.end - rows.begin;
    return view(v, rows.begin * row, std::move(type), false);
  }

  bool by_rows(const Node& node, double seconds) {
    if (node.outputs.size() != 1 || node.outputs[0] == kAbsent) return false;
    const Shape& out = original_.type(node.outputs[0]).shape;
    if (out.rank() < 3 || out[1] < 2) return false;
    const bool fed_by_bands = std::any_of(node.inputs.begin(), node.inputs.end(),
                                          [&](ValueId v) { return v != kAbsent && split_.count(v) != 0; });
    const auto worth = static_cast<std::int64_t>(seconds / (kWorthwhile / 2));
    const std::int64_t count =
        std::min<std::int64_t>({bands_, out[1], std::max<std::int64_t>(worth, fed_by_bands ? 2 : 1)});
    if (count < 2) return false;
    std::vector<Node> parts;
    std::vector<RowRange> ranges;
    for (std::int64_t k = 0; k < count; ++k) ranges.push_back({k * out[1] / count, (k + 1) * out[1] / count});
    for (const RowRange& r : ranges)
      if (!band_of_node(original_, node, r)) return false;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const BandOfNode band = *band_of_node(original_, node, ranges[k]);
      Node part = node;
      part.name = fmt::format("{}/rows{}", node.name, k);
      part.attributes = band.attributes;
      if (!band.op.empty()) part.op = band.op;
      for (std::size_t i = 0; i < part.inputs.size(); ++i)
        if (band.inputs[i]) part.inputs[i] = input_rows(part.inputs[i], *band.inputs[i], out.rank());
      part.outputs[0] = rows_of(node.outputs[0], ranges[k], true);
      add(std::move(part), static_cast<std::size_t>(k));
    }
    split_[node.outputs[0]] = ranges;
    return true;
  }

  /// y [1, M] = x [1, K] W: each part has some of the columns. W is a constant, [M, K] or [K, M].
  bool by_columns(const Node& node, double seconds) {
    if ((node.op != "Gemm" && node.op != "MatMul") || seconds < 2 * kWorthwhile) return false;
    const TensorType& out = original_.type(node.outputs[0]);
    const Tensor* weight = original_.constant(node.inputs[1]);
    if (weight == nullptr || weight->shape().rank() != 2 || out.shape.elements() != out.shape[-1])
      return false;
    const bool rows = node.op == "Gemm" && node.attributes.get_int("transB", 0) != 0;
    for (std::size_t i = 2; i < node.inputs.size(); ++i)  // a bias is cut like the columns
      if (node.inputs[i] != kAbsent && original_.constant(node.inputs[i]) == nullptr) return false;
    const std::int64_t columns = out.shape[-1];
    const auto count =
        std::min<std::int64_t>({bands_, columns, static_cast<std::int64_t>(seconds / kWorthwhile)});
    if (count < 2) return false;
    for (std::int64_t k = 0; k < count; ++k) {
      const RowRange range{k * columns / count, (k + 1) * columns / count};
      Node part = node;
      part.name = fmt::format("{}/columns{}", node.name, k);
      part.inputs[1] = constant_part(node.inputs[1], rows ? 0 : 1, range);
      for (std::size_t i = 2; i < part.inputs.size(); ++i) {
        if (part.inputs[i] == kAbsent) continue;
        const Shape& shape = original_.type(part.inputs[i]).shape;
        if (shape.rank() > 0 && shape[-1] == columns)
          part.inputs[i] = constant_part(part.inputs[i], shape.rank() - 1, range);
      }
      TensorType type = out;
      type.shape[-1] = range.end - range.begin;
      part.outputs[0] =
          view(node.outputs[0], range.begin * static_cast<std::int64_t>(size_of(out.dtype)), type, true);
      add(std::move(part), static_cast<std::size_t>(k));
    }
    return true;
  }

  ValueId constant_part(ValueId v, int axis, RowRange range) {
    const Tensor& whole = *original_.constant(v);
    Shape shape = whole.shape();
    const std::int64_t inner =
        shape.elements(axis + 1, shape.rank()) * static_cast<std::int64_t>(size_of(whole.dtype()));
    const std::int64_t extent = shape[axis], outer = shape.elements(0, axis);
    shape[axis] = range.end - range.begin;
    const std::string name =
        fmt::format("{}[{}]", original_.values[static_cast<std::size_t>(v)].name, range.begin);
    if (outer == 1)  // contiguous: the same memory
      return result_.graph.add_constant(
          name,
          Tensor(whole.dtype(), shape, static_cast<const std::byte*>(whole.data()) + range.begin * inner,
                 std::make_shared<const Tensor>(whole)));
    Tensor part(whole.dtype(), shape);
    for (std::int64_t o = 0; o < outer; ++o)
      std::memcpy(static_cast<std::byte*>(part.mutable_data()) + o * shape[axis] * inner,
                  static_cast<const std::byte*>(whole.data()) + (o * extent + range.begin) * inner,
                  static_cast<std::size_t>(shape[axis] * inner));
    return result_.graph.add_constant(name, std::move(part));
  }

  /// The mean over bands of as many rows is the mean of their means.
  bool by_partial_averages(const Node& node) {
    if (node.op != "GlobalAveragePool") return false;
    const ValueId x = node.inputs[0];
    const auto bands = split_.find(x);
    if (bands == split_.end()) return false;
    const auto& ranges = bands->second;
    for (const RowRange& r : ranges)
      if (r.end - r.begin != ranges[0].end) return false;
    TensorType type = original_.type(node.outputs[0]);
    const std::int64_t bytes = type.bytes();
    TensorType all = type;
    all.shape[1] = static_cast<std::int64_t>(ranges.size());
    const ValueId means = result_.graph.add_value(node.name + "/means", all);
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      Node part = node;
      part.post_ops.clear();
      part.name = fmt::format("{}/rows{}", node.name, k);
      part.inputs = {rows_of(x, ranges[k])};
      part.outputs[0] = view(means, static_cast<std::int64_t>(k) * bytes, type, true);
      add(std::move(part), static_cast<std::size_t>(k));
    }
    Node join = node;
    join.inputs[0] = means;
    add(std::move(join), kWhole);
    return true;
  }

  const Graph& original_;
  const LayerTable& layers_;
  std::int64_t bands_;
  std::span<const double> seconds_;
  BandedGraph result_;
  std::map<std::tuple<ValueId, std::int64_t, std::int64_t>, ValueId> ranges_;
  std::map<ValueId, std::vector<RowRange>> split_;
};

}  // namespace

BandedGraph split_into_bands(const Graph& graph, const LayerTable& layers, unsigned bands,
                             std::span<const double> seconds) {
  return Splitter(graph, layers, bands, seconds).run();
}

}  // namespace espalier
