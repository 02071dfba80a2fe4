#include "layers/reduce/reduce_axes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/permute.hpp"

namespace espalier {
namespace {

std::vector<std::int64_t> given_axes(const NodeView& view) {
  if (view.has_input(1)) return view.constant(1, "input axes").to_int64();
  return view.attributes().get_ints("axes");
}

/// The plan of some axes whose rows have one element.
BroadcastPlan close(std::vector<BroadcastPlan::Axis> axes) {
  axes.push_back({1, 1, {1, 0, 0}});
  BroadcastPlan plan;
  plan.axes = std::move(axes);
  return plan;
}

}  // namespace

std::vector<bool> reduced_axes(const NodeView& view) {
  const int rank = view.shape(0).rank();
  const std::vector<std::int64_t> axes = given_axes(view);
  const bool none = axes.empty() && view.attributes().get_int("noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(static_cast<std::size_t>(rank), axes.empty() && !none);
  for (std::int64_t axis : axes) {
    const auto a = static_cast<std::size_t>(normalise_axis(axis, rank, "axis of axes"));
    if (reduced[a]) throw InputError(fmt::format("axes name axis {} twice", a));
    reduced[a] = true;
  }
  return reduced;
}

Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims) {
  std::vector<std::int64_t> dims;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduced[static_cast<std::size_t>(i)])
      dims.push_back(shape[i]);
    else if (keepdims)
      dims.push_back(1);
  }
  return Shape(std::move(dims));
}

ReducePlan plan_reduction(const Shape& shape, const std::vector<bool>& reduced) {
  // runs of one kind, outermost first
  struct Run {
    std::int64_t extent;
    bool reduced;
  };
  std::vector<Run> runs;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] == 1) continue;
    const bool r = reduced[static_cast<std::size_t>(i)];
    if (!runs.empty() && runs.back().reduced == r)
      runs.back().extent *= shape[i];
    else
      runs.push_back({shape[i], r});
  }
  ReducePlan plan;
  if (!runs.empty()) {
    plan.inner = runs.back().extent;
    plan.inner_reduced = runs.back().reduced;
    if (plan.inner_reduced) plan.count = plan.inner;
    runs.pop_back();
  }
  std::vector<BroadcastPlan::Axis> kept;
  std::vector<BroadcastPlan::Axis> gone;
  std::int64_t in = plan.inner;
  std::int64_t out = plan.inner_reduced ? 1 : plan.inner;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    (run->reduced ? gone : kept).push_back({run->extent, run->reduced ? 0 : out, {in, 0, 0}});
    in *= run->extent;
    (run->reduced ? plan.count : out) *= run->extent;
  }
  std::reverse(kept.begin(), kept.end());
  std::reverse(gone.begin(), gone.end());
  plan.kept = close(std::move(kept));
  plan.reduced = close(std::move(gone));
  return plan;
}

std::optional<std::vector<int>> permute_reduce(Graph& graph, Node& node, std::span<const int> perm) {
  const NodeView view = view_of(graph, node);
  if (view.shape(0).rank() != static_cast<int>(perm.size())) return std::nullopt;
  const std::vector<bool> reduced = reduced_axes(view);
  const std::vector<int> place = inverse_permutation(perm);
  if (!given_axes(view).empty()) {
    std::vector<std::int64_t> axes;
    for (std::size_t a = 0; a < reduced.size(); ++a)
      if (reduced[a]) axes.push_back(place[a]);
    std::sort(axes.begin(), axes.end());
    if (view.has_input(1)) {
      Tensor moved = Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes);
      node.inputs[1] = graph.add_constant(node.name + "/axes", std::move(moved));
    } else {
      node.attributes.set("axes", axes);
    }
  }
  if (node.attributes.get_int("keepdims", 1) != 0) return std::vector<int>(perm.begin(), perm.end());
  // the place of each kept axis among the kept ones of the unpermuted input
  std::vector<int> rank_of(reduced.size(), 0);
  int kept = 0;
  for (std::size_t a = 0; a < reduced.size(); ++a)
    if (!reduced[a]) rank_of[a] = kept++;
  std::vector<int> left;
  for (int p : perm)
    if (!reduced[static_cast<std::size_t>(p)]) left.push_back(rank_of[static_cast<std::size_t>(p)]);
  return left;
}

}  // namespace espalier
