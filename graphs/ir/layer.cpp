#include "graphs/ir/layer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <unordered_map>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

class LockedWeightCache final : public WeightCache {
 public:
  std::shared_ptr<const void> get(const std::string& key, std::shared_ptr<const void> (*make)(void*),
                                  void* context) override {
    const std::lock_guard lock(mutex_);
    auto& slot = packed_[key];
    if (slot == nullptr) slot = make(context);
    return slot;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const void>> packed_;
};

}  // namespace

std::unique_ptr<WeightCache> make_weight_cache() {
  return std::make_unique<LockedWeightCache>();
}

const Tensor& NodeView::constant(std::size_t i, std::string_view what) const {
  if (i >= constants.size() || constants[i] == nullptr)
    throw InputError(
        fmt::format("{} must be known when the graph is bound; it is computed from run-time data", what));
  return *constants[i];
}

NodeView view_of(const Graph& graph, const Node& node) {
  NodeView view{node, {}, {}, {}};
  for (ValueId v : node.inputs) {
    view.inputs.push_back(v == kAbsent ? nullptr : &graph.type(v));
    view.constants.push_back(graph.constant(v));
  }
  const bool inferred = std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
    return v == kAbsent || (graph.values[v].type && graph.values[v].type->shape.is_static());
  });
  if (inferred)
    for (ValueId v : node.outputs) view.outputs.push_back(v == kAbsent ? nullptr : &graph.type(v));
  return view;
}

LayerTable::LayerTable(std::vector<Layer> layers) : layers_(std::move(layers)) {
  std::sort(layers_.begin(), layers_.end(), [](const Layer& a, const Layer& b) { return a.op < b.op; });
  for (std::size_t i = 1; i < layers_.size(); ++i)
    if (layers_[i].op == layers_[i - 1].op)
      throw InternalError(fmt::format("layer {} is listed twice", layers_[i].op));
}

const Layer* LayerTable::find(std::string_view op) const {
  const auto it = std::lower_bound(layers_.begin(), layers_.end(), op,
                                   [](const Layer& l, std::string_view o) { return l.op < o; });
  return it != layers_.end() && it->op == op ? &*it : nullptr;
}

const Layer& LayerTable::at(const Node& node) const {
  if (const Layer* layer = find(node.op)) return *layer;
  std::string known;
  for (const Layer& l : layers_) known += fmt::format("{}{}", known.empty() ? "" : ", ", l.op);
  throw InputError(
      fmt::format("node {}: operator {} is not supported; supported are {}", node.name, node.op, known));
}

Selection select_implementation(const Layer& layer, const NodeView& view, const KernelOptions& options) {
  Selection selection;
  for (const Implementation& implementation : layer.implementations) {
    std::string reason;
    if (options.reference_only && implementation.name != "reference")
      reason = "only the reference was asked for";
    if (reason.empty()) reason = implementation.refuses(view, options);
    if (!reason.empty()) {
      selection.refused.emplace_back(implementation.name, std::move(reason));
      continue;
    }
    if (implementation.name == options.forced || selection.chosen == nullptr)
      selection.chosen = &implementation;
    if (options.forced.empty() || selection.chosen->name == options.forced) break;
  }
  return selection;
}

std::unique_ptr<Kernel> prepare_kernel(const LayerTable& layers, const Graph& graph, const Node& node,
                                       PrepareContext& context) {
  const Layer& layer = layers.at(node);
  const NodeView view = view_of(graph, node);
  const Selection selection = select_implementation(layer, view, context.options);
  if (selection.chosen != nullptr) return selection.chosen->prepare(view, context);
  std::string reasons;
  for (const auto& [name, reason] : selection.refused) reasons += fmt::format("; {}: {}", name, reason);
  throw InputError(fmt::format("node {} ({}): no implementation applies{}", node.name, node.op, reasons));
}

}  // namespace espalier
