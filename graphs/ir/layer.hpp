#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/base/units.hpp"
#include "graphs/ir/graph.hpp"

/// The layer interface. A layer is a row of a table: shape rule, cost, how it behaves under a permutation of
/// its axes, which operations it can fuse, and an ordered list of implementations. layers/layer_list.cpp
/// holds the table; what lies below receives it as an argument.
namespace espalier {

/// A node with the types of its inputs and outputs, and the constants among its inputs. During shape
/// inference `outputs` is empty. Absent optional inputs have no type (nullptr).
struct NodeView {
  const Node& node;
  std::vector<const TensorType*> inputs;
  std::vector<const TensorType*> outputs;
  std::vector<const Tensor*> constants;  ///< by input; nullptr for a run-time value

  const std::string& op() const { return node.op; }
  const Attributes& attributes() const { return node.attributes; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Shape& shape(std::size_t i) const { return inputs[i]->shape; }
  /// The constant of input i. InputError "input NAME must be known when the graph is bound" when it is not.
  const Tensor& constant(std::size_t i, std::string_view what) const;
};
NodeView view_of(const Graph& graph, const Node& node);

struct LayerCost {
  Flops flops;
  Bytes bytes_read;  ///< constants included
  Bytes bytes_written;
};

/// Pointers in the order of the node's inputs and outputs; nullptr for an absent one. A constant input's
/// pointer is the tensor given at preparation; a kernel may have packed it. Outputs never overlap inputs,
/// unless the kernel says in_place() (then output 0 may be input 0).
struct KernelArguments {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* scratch = nullptr;  ///< scratch_bytes() bytes, aligned to 64
};

/// One node made ready to run with fixed shapes. Not thread-safe: each worker has its own. run() allocates
/// nothing and creates no primitive.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(const KernelArguments& arguments) = 0;
  virtual std::size_t scratch_bytes() const { return 0; }
  virtual bool in_place() const { return false; }
};

/// Packed weights, shared by the workers and the micro-batch sizes. Thread-safe. The key names the content
/// and the packing ("conv1.weight/winograd"); the address of the constant's data is a good part of it.
class WeightCache {
 public:
  virtual ~WeightCache() = default;
  virtual std::shared_ptr<const void> get(const std::string& key,
                                          std::shared_ptr<const void> (*make)(void* context),
                                          void* context) = 0;
  template <class T, class F>
  std::shared_ptr<const T> get_or_make(const std::string& key, F&& make) {
    auto call = [](void* f) -> std::shared_ptr<const void> {
      return (*static_cast<std::remove_reference_t<F>*>(f))();
    };
    return std::static_pointer_cast<const T>(get(key, call, &make));
  }
};
std::unique_ptr<WeightCache> make_weight_cache();

struct KernelOptions {
  bool allow_bf16 = false;  ///< may compute in bfloat16 with float32 accumulation
  bool allow_winograd = true;
  bool reference_only = false;  ///< take the reference implementation (folding, tests)
  std::string forced;           ///< take the implementation of this name where a layer has it
};

struct PrepareContext {
  WeightCache& weights;
  KernelOptions options;
};

struct Implementation {
  std::string_view name;  ///< "direct", "winograd", "reference", ...
  /// Empty when it applies, else the reason why not ("kernel 5x5: only 3x3 is served").
  std::string (*refuses)(const NodeView&, const KernelOptions&);
  std::unique_ptr<Kernel> (*prepare)(const NodeView&, PrepareContext&);
};

/// A permutation moved through a node: the node, changed so that on inputs permuted by `perm` (out[i] =
/// in[perm[i]], for each input whose `permuted` flag is set) it gives outputs permuted by the returned one.
/// Constants are replaced by adding new ones to the graph. nullopt: it cannot, and nothing was changed.
using PermuteRule = std::optional<std::vector<int>> (*)(Graph&, Node&, std::span<const int> perm);

enum class LayoutRule {
  opaque,         ///< needs its axes in ONNX's order (Reshape, MatMul, Gather, recurrent layers, ...)
  channels_last,  ///< defined on [N, spatial..., C] here, on [N, C, spatial...] in ONNX: the importer
                  ///< brackets it
  any,            ///< moved through by `permute` (element-wise, Concat, Softmax, Reduce*, Pad, ...)
};

struct Layer {
  std::string_view op;       ///< ONNX's name ("Conv")
  std::string_view summary;  ///< one line for `espalier list layers`
  int min_inputs = 1;
  int max_inputs = 1;
  int max_outputs = 1;
  LayoutRule layout = LayoutRule::opaque;
  /// Output 0 may share input 0's memory: the bytes are the same under another shape (Reshape, Identity,
  /// ...).
  bool alias = false;
  /// Types of all outputs. InputError without the node's name: the caller puts it in front.
  std::vector<TensorType> (*infer)(const NodeView&);
  LayerCost (*cost)(const NodeView&);
  PermuteRule permute = nullptr;
  /// Whether the implementations take this operation after those that node.post_ops already has.
  bool (*can_fuse)(const NodeView&, const PostOp&) = nullptr;
  std::span<const Implementation> implementations;  ///< specialised first, "reference" last
};

/// The table of all layers, sorted by op.
class LayerTable {
 public:
  explicit LayerTable(std::vector<Layer> layers);
  const Layer* find(std::string_view op) const;
  /// InputError naming the node and the operator, and listing what is supported.
  const Layer& at(const Node& node) const;
  std::span<const Layer> all() const { return layers_; }

 private:
  std::vector<Layer> layers_;
};

/// The first implementation that applies, and for each one passed over the reason.
struct Selection {
  const Implementation* chosen = nullptr;
  std::vector<std::pair<std::string_view, std::string>> refused;
};
Selection select_implementation(const Layer& layer, const NodeView& view, const KernelOptions& options);

/// Selects and prepares. InputError naming the node and every reason when nothing applies.
std::unique_ptr<Kernel> prepare_kernel(const LayerTable& layers, const Graph& graph, const Node& node,
                                       PrepareContext& context);

}  // namespace espalier
