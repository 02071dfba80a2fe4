#include "graphs/passes/move_transposes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "graphs/base/error.hpp"
#include "graphs/passes/types.hpp"

namespace espalier {
namespace {

using Permutation = std::vector<int>;

Permutation identity(int rank) {
  Permutation p(static_cast<std::size_t>(rank));
  std::iota(p.begin(), p.end(), 0);
  return p;
}

bool is_identity(const Permutation& p) {
  return std::is_sorted(p.begin(), p.end());
}

/// transpose(transpose(x, first), second) = transpose(x, compose(first, second))
Permutation compose(const Permutation& first, const Permutation& second) {
  Permutation p;
  for (int axis : second) p.push_back(first[static_cast<std::size_t>(axis)]);
  return p;
}

Permutation inverse(const Permutation& p) {
  Permutation q(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) q[static_cast<std::size_t>(p[i])] = static_cast<int>(i);
  return q;
}

/// Only extents of 1 change their place: the elements stay in order.
bool moves_ones_only(const Shape& shape, const Permutation& p) {
  int last = -1;
  for (int axis : p) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Permutation perm_of(const Node& node, int rank) {
  const std::vector<std::int64_t> perm = node.attributes.get_ints("perm");
  if (!perm.empty()) return {perm.begin(), perm.end()};
  Permutation reversed = identity(rank);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

/// A value as the permutation of another one.
struct Permuted {
  ValueId source;
  Permutation perm;
};

class Mover {
 public:
  Mover(Graph& graph, const LayerTable& layers) : graph_(graph), layers_(layers) {}

  void run() {
    std::vector<Node> nodes = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (Node& node : nodes) {
      if (node.op == "Transpose" && node.post_ops.empty())
        remember(node);
      else if (!move(node))
        keep(std::move(node));
    }
    for (ValueId v : graph_.outputs) own_order(v);
  }

 private:
  /// v as a permutation of a value that exists.
  Permuted resolve(ValueId v) const {
    const auto found = permuted_.find(v);
    if (found != permuted_.end()) return found->second;
    return {v, identity(graph_.type(v).shape.rank())};
  }

  void remember(const Node& node) {
    const Permuted source = resolve(node.inputs[0]);
    const Permutation perm = perm_of(node, static_cast<int>(source.perm.size()));
    permuted_[node.outputs[0]] = {source.source, compose(source.perm, perm)};
  }

  /// Bytes that must be moved to have transpose(v, perm).
  double cost(ValueId v, const Permutation& perm) const {
    const Permuted p = resolve(v);
    const Permutation all = compose(p.perm, perm);
    const bool free = moves_ones_only(graph_.type(p.source).shape, all) || made_.count({p.source, all}) != 0;
    return free ? 0 : static_cast<double>(graph_.type(v).bytes());
  }

  /// transpose(v, perm) as a value, computed where it is not there yet.
  ValueId make(ValueId v, const Permutation& perm) {
    const Permuted p = resolve(v);
    const Permutation all = compose(p.perm, perm);
    if (is_identity(all)) return p.source;
    const auto found = made_.find({p.source, all});
    if (found != made_.end()) return found->second;
    const TensorType& type = graph_.type(p.source);
    const bool whole = is_identity(perm);  // v itself: under its own name and id
    const ValueId out = whole ? v
                              : graph_.add_value(graph_.values[v].name + "/permuted",
                                                 TensorType{type.dtype, permuted(type.shape, all)});
    emit(p.source, all, out);
    made_[{p.source, all}] = out;
    return out;
  }

  void emit(ValueId source, const Permutation& perm, ValueId out) {
    Node node;
    node.name = graph_.values[out].name + "/transpose";
    node.inputs = {source};
    node.outputs = {out};
    const Shape& shape = graph_.type(source).shape;
    if (moves_ones_only(shape, perm)) {
      node.op = "Reshape";
      std::vector<std::int64_t> dims = permuted(shape, perm).dims();
      if (!dims.empty() && perm[0] == 0) dims[0] = 0;  // the batch, whatever it is
      node.inputs.push_back(
          graph_.add_constant(node.name + "/shape", Tensor::of<std::int64_t>({shape.rank()}, dims)));
    } else {
      node.op = "Transpose";
      node.attributes.set("perm", std::vector<std::int64_t>(perm.begin(), perm.end()));
    }
    graph_.nodes.push_back(std::move(node));
  }

  /// v in its own axis order, as a value that exists. A graph output keeps its id.
  ValueId own_order(ValueId v) {
    const auto found = permuted_.find(v);
    if (found == permuted_.end()) return v;
    const Permuted p = found->second;
    const bool output = std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end();
    if (!output) return make(v, identity(static_cast<int>(p.perm.size())));
    permuted_.erase(found);
    emit(p.source, p.perm, v);
    return v;
  }

  void keep(Node node) {
    for (ValueId& v : node.inputs)
      if (v != kAbsent) v = own_order(v);
    set_types(graph_, node, layers_);
    graph_.nodes.push_back(std::move(node));
  }

  /// The run-time inputs that a rule takes as permuted: those of the rank of the permutation.
  bool takes_part(ValueId v, std::size_t rank) const {
    return v != kAbsent && graph_.constant(v) == nullptr &&
           graph_.type(v).shape.rank() == static_cast<int>(rank);
  }

  double cost_of_inputs(const Node& node, const Permutation& perm) const {
    double sum = 0;
    for (ValueId v : node.inputs)
      if (takes_part(v, perm.size())) sum += cost(v, perm);
    return sum;
  }

  /// The order in which the node's inputs are cheapest to have, when it is not their own.
  std::optional<Permutation> best_order(const Node& node) const {
    std::optional<Permutation> best;
    double best_cost = 0;
    for (ValueId v : node.inputs) {
      const auto found = v == kAbsent ? permuted_.end() : permuted_.find(v);
      if (found == permuted_.end()) continue;
      const Permutation order = inverse(found->second.perm);
      const double c = cost_of_inputs(node, order);
      if (!best && c > cost_of_inputs(node, identity(static_cast<int>(order.size())))) continue;
      if (best && c >= best_cost) continue;
      best = order;
      best_cost = c;
    }
    return best;
  }

  /// Moves the node to another axis order; false when it stays.
  bool move(const Node& original) {
    const Layer* layer = layers_.find(original.op);
    if (layer == nullptr || layer->permute == nullptr || !original.post_ops.empty()) return false;
    const auto order = best_order(original);
    if (!order) return false;
    Node node = original;
    const auto result = layer->permute(graph_, node, *order);
    if (!result) return false;
    for (ValueId& v : node.inputs)
      if (v != kAbsent) v = takes_part(v, order->size()) ? make(v, *order) : own_order(v);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v == kAbsent || is_identity(*result)) continue;
      node.outputs[i] = graph_.add_value(graph_.values[v].name + "/moved");
      permuted_[v] = {node.outputs[i], inverse(*result)};
    }
    set_types(graph_, node, layers_);
    graph_.nodes.push_back(std::move(node));
    check(original);
    return true;
  }

  /// A rule that permutes wrongly would show here rather than in wrong results.
  void check(const Node& original) const {
    for (ValueId v : original.outputs) {
      const auto found = v == kAbsent ? permuted_.end() : permuted_.find(v);
      if (found == permuted_.end()) continue;
      const Shape moved = permuted(graph_.type(found->second.source).shape, found->second.perm);
      if (moved != graph_.type(v).shape)
        throw InternalError("the permutation of " + original.op + " gives " + moved.to_string() +
                            " instead of " + graph_.type(v).shape.to_string());
    }
  }

  Graph& graph_;
  const LayerTable& layers_;
  std::map<ValueId, Permuted> permuted_;
  std::map<std::pair<ValueId, Permutation>, ValueId> made_;
};

}  // namespace

void move_transposes(Graph& graph, const LayerTable& layers) {
  Mover(graph, layers).run();
  make_names_unique(graph);
}

}  // namespace espalier
