#pragma once

#include <dnnl.hpp>
#include <utility>
#include <vector>

#include "graphs/ir/layer.hpp"

/// What all layers on oneDNN share: descriptors, fused operations, packed weights, and a kernel that runs
/// primitives whose memory objects are made once.
namespace espalier::onednn {

const dnnl::engine& cpu();

/// Whether the processor multiplies bfloat16 natively.
bool has_bf16();

/// InternalError unless f32, bf16, f16, i32, i8 or u8.
dnnl::memory::data_type data_type(DType t);
/// Row-major.
dnnl::memory::desc row_major(DType t, const dnnl::memory::dims& dims);
/// oneDNN's logical [N, C, spatial...] over memory in the order [N, spatial..., C].
dnnl::memory::desc channels_last(const TensorType& type);
/// `dims` of logical axes that stand in memory in row-major order of `order` (a permutation, outermost
/// first).
dnnl::memory::desc ordered(DType t, const dnnl::memory::dims& dims, const std::vector<int>& order);
/// The same dims with the layout left to the primitive.
dnnl::memory::desc any_layout(const dnnl::memory::desc& d);

/// A value that a Program's steps read or write.
using Slot = int;

/// A sequence of primitives over slots; the memory objects are made once and only their pointers change.
class Program {
 public:
  Slot input(int index, const dnnl::memory::desc& desc) { return add(Slot_{Kind::input, index}, desc); }
  Slot output(int index, const dnnl::memory::desc& desc) { return add(Slot_{Kind::output, index}, desc); }
  Slot constant(std::shared_ptr<const void> data, const dnnl::memory::desc& desc);
  Slot temporary(const dnnl::memory::desc& desc);
  /// Appends a primitive; its scratchpad (user mode) comes from the kernel's scratch.
  void step(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
            const std::vector<std::pair<int, Slot>>& arguments);
  /// A slot of the same values in another layout: the slot itself when the layouts agree.
  Slot reordered(Slot from, const dnnl::memory::desc& to);
  const dnnl::memory::desc& desc(Slot s) const { return descs_[s]; }

  std::size_t scratch_bytes() const { return temporaries_ + scratchpad_; }
  void run(const KernelArguments& arguments);

 private:
  enum class Kind { input, output, constant, scratch };
  struct Slot_ {
    Kind kind;
    std::int64_t index;  ///< of the input or output; offset in the scratch
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  Slot add(Slot_ slot, const dnnl::memory::desc& desc);

  std::vector<Slot_> slots_;
  std::vector<dnnl::memory::desc> descs_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl::memory> scratchpads_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Step> steps_;
  std::size_t temporaries_ = 0, scratchpad_ = 0;
  dnnl::stream stream_{cpu()};
};

class ProgramKernel : public Kernel {
 public:
  explicit ProgramKernel(Program program) : program_(std::move(program)) {}
  void run(const KernelArguments& arguments) override { program_.run(arguments); }
  std::size_t scratch_bytes() const override { return program_.scratch_bytes(); }

 private:
  Program program_;
};

/// `from` laid out as `to`, made once for each constant and layout and shared through the cache.
std::shared_ptr<const void> pack(WeightCache& cache, const Tensor& constant, const dnnl::memory::desc& from,
                                 const dnnl::memory::desc& to);

/// The node's fused operations as oneDNN's. `operands` lists the argument and the input index of each second
/// operand.
struct PostOps {
  dnnl::post_ops ops;
  std::vector<std::pair<int, int>> operands;
  std::string refused;  ///< why oneDNN cannot, or empty
};
/// `output` is the descriptor of the output and of operands of its shape; with `sum_first` the result is
/// first added to what the output holds.
PostOps post_ops(const NodeView& view, const dnnl::memory::desc& output, bool sum_first = false);

/// Index of the node's first fused Add or Mul, or the number of fused operations when there is none.
std::size_t first_binary(const NodeView& view);
/// The fused operations before `end` alone.
PostOps post_ops_before(const NodeView& view, const dnnl::memory::desc& output, std::size_t end);
/// Appends the fused operations from `first` (an Add or Mul) on as primitives of their own, in place on slot
/// `y`.
void append_binaries(Program& program, const NodeView& view, Slot y, std::size_t first);

/// An attribute with user-managed scratchpad and the given fused operations.
dnnl::primitive_attr attributes(const dnnl::post_ops& ops, const KernelOptions& options);

}  // namespace espalier::onednn
