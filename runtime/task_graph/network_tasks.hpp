#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier {

/// A batch cut into micro-batches: each is one of the bound variants of the network.
struct NetworkUnits {
  std::vector<std::shared_ptr<const Graph>> variants;
  std::vector<std::uint32_t> units;  ///< variant of each micro-batch, in order
  double samples = 1;                ///< of the batch
};

/// Of a layer's output channels.
constexpr int kMostSplit = 64;

struct NetworkTaskOptions {
  bool training = false;
  /// Copies of the parameters' gradients, among which micro-batches take turns (data parallelism); they are
  /// added up in a tree before the update. 0: one for each micro-batch, 16 at most.
  int replicas = 0;
  /// The replicas' gradients are added up by one collective for each parameter, gradient_all_reduce, whose
  /// time includes its communication: the task reads a few bytes of each copy, written with it, not the copy.
  /// Else in a tree of gradient_sum tasks, whose data the links carry.
  bool all_reduce = false;
  /// Parts that the output channels of convolution and dense layers are split into (model parallelism),
  /// kMostSplit at most.
  int split = 1;
};

/// The tasks of a network for schedulers and the simulator, one a node, micro-batch and direction; aliases
/// (Reshape, ...) make none. README.md has the rules.
///
/// Inference: forward tasks; the graph's outputs go home. Training, one step: forward, the loss, then in
/// reverse order backward tasks (for layers with matrices of parameters one for the inputs and one for the
/// parameters), the sums of the replicas' gradients, and updates of the parameters. Costs follow the shapes:
/// the flops of a layer's forward apply to each of its backward tasks; bytes are what they read and write.
/// Priorities are the longest way to the end in flops and bytes. O(nodes x micro-batches x split).
TaskGraph network_tasks(const NetworkUnits& network, const LayerTable& layers,
                        const NetworkTaskOptions& options = {});

/// Priorities by the longest way to the end, each task at max(flops / 10 Tflop/s, bytes / 600 GB/s) + 5 us.
void set_path_priorities(TaskGraph& graph);

}  // namespace espalier
