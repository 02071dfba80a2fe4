#include "layers/movement/movement.hpp"

#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

void fill_elements(void* dst, std::int64_t elements, std::size_t bytes, const void* value) {
  const auto total = static_cast<std::size_t>(elements) * bytes;
  if (total == 0) return;
  if (value == nullptr) {
    std::memset(dst, 0, total);
    return;
  }
  std::memcpy(dst, value, bytes);
  for (std::size_t done = bytes; done < total; done *= 2)  // doubles what is filled
    std::memcpy(static_cast<char*>(dst) + done, dst, std::min(done, total - done));
}

const void* fill_value(const KernelArguments& arguments, int input) {
  const auto i = static_cast<std::size_t>(input);
  return input >= 0 && i < arguments.inputs.size() ? arguments.inputs[i] : nullptr;
}

class CopyKernel final : public Kernel {
 public:
  CopyKernel(const NodeView& view, std::vector<Move> moves, bool fill, int fill_input)
      : moves_(std::move(moves)), fill_(fill), fill_input_(fill_input) {
    elements_ = view.outputs[0]->shape.elements();
    bytes_ = size_of(view.outputs[0]->dtype);
  }
  void run(const KernelArguments& arguments) override {
    if (fill_) fill_elements(arguments.outputs[0], elements_, bytes_, fill_value(arguments, fill_input_));
    for (const Move& move : moves_) {
      void* out = arguments.outputs[static_cast<std::size_t>(move.output)];
      if (out != nullptr) move.plan.run(out, arguments.inputs[static_cast<std::size_t>(move.input)]);
    }
  }

 private:
  std::vector<Move> moves_;
  bool fill_;
  int fill_input_;
  std::int64_t elements_;
  std::size_t bytes_;
};

class IndexKernel final : public Kernel {
 public:
  IndexKernel(const NodeView& view, SourceMap map, int fill_input)
      : map_(std::move(map)), fill_input_(fill_input) {
    for (const TensorType* type : view.outputs) shapes_.push_back(type != nullptr ? type->shape : Shape{0});
    bytes_ = size_of(view.outputs[0]->dtype);
    index_.reserve(64);
  }
  void run(const KernelArguments& arguments) override {
    for (std::size_t o = 0; o < shapes_.size(); ++o)
      if (arguments.outputs[o] != nullptr) run_output(static_cast<int>(o), arguments);
  }

 private:
  void run_output(int output, const KernelArguments& arguments) {
    const Shape& shape = shapes_[static_cast<std::size_t>(output)];
    const std::int64_t n = shape.elements();
    auto* dst = static_cast<char*>(arguments.outputs[static_cast<std::size_t>(output)]);
    index_.assign(static_cast<std::size_t>(shape.rank()), 0);
    for (std::int64_t e = 0; e < n; ++e, dst += bytes_) {
      const Source source = map_(output, index_);
      if (source.input < 0)
        fill_elements(dst, 1, bytes_, fill_value(arguments, fill_input_));
      else
        std::memcpy(dst,
                    static_cast<const char*>(arguments.inputs[static_cast<std::size_t>(source.input)]) +
                        static_cast<std::size_t>(source.element) * bytes_,
                    bytes_);
      for (int k = shape.rank() - 1; k >= 0; --k) {
        if (++index_[static_cast<std::size_t>(k)] < shape[k]) break;
        index_[static_cast<std::size_t>(k)] = 0;
      }
    }
  }

  SourceMap map_;
  int fill_input_;
  std::vector<Shape> shapes_;
  std::size_t bytes_;
  std::vector<std::int64_t> index_;
};

class AliasKernel final : public Kernel {
 public:
  explicit AliasKernel(std::size_t bytes) : bytes_(bytes) {}
  void run(const KernelArguments& arguments) override {
    if (bytes_ != 0 && arguments.outputs[0] != arguments.inputs[0])
      std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes_);
  }
  bool in_place() const override { return true; }

 private:
  std::size_t bytes_;
};

}  // namespace

std::unique_ptr<Kernel> make_copy_kernel(const NodeView& view, std::vector<Move> moves, bool fill,
                                         int fill_input) {
  return std::make_unique<CopyKernel>(view, std::move(moves), fill, fill_input);
}

std::unique_ptr<Kernel> make_index_kernel(const NodeView& view, SourceMap map, int fill_input) {
  return std::make_unique<IndexKernel>(view, std::move(map), fill_input);
}

std::unique_ptr<Kernel> make_alias_kernel(const NodeView& view) {
  return std::make_unique<AliasKernel>(static_cast<std::size_t>(view.outputs[0]->bytes()));
}

LayerCost movement_cost(const NodeView& view) {
  LayerCost cost;
  for (const TensorType* type : view.inputs)
    if (type != nullptr) cost.bytes_read += Bytes(type->bytes());
  for (const TensorType* type : view.outputs)
    if (type != nullptr) cost.bytes_written += Bytes(type->bytes());
  return cost;
}

LayerCost alias_cost(const NodeView&) {
  return {};
}

std::string never_refuses(const NodeView&, const KernelOptions&) {
  return {};
}

std::int64_t offset_of(std::span<const std::int64_t> index, std::span<const std::int64_t> strides) {
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < index.size(); ++k) offset += index[k] * strides[k];
  return offset;
}

void replace_constant(Graph& graph, Node& node, std::size_t i, const std::vector<std::int64_t>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  node.inputs[i] = graph.add_constant(fmt::format("{}.permuted.{}", node.name, i),
                                      Tensor::of<std::int64_t>(Shape{n}, values));
}

std::vector<std::int64_t> constant_vector(const NodeView& view, std::size_t i, std::string_view what) {
  const Tensor& tensor = view.constant(i, what);
  if (tensor.shape().rank() > 1)
    throw InputError(
        fmt::format("{} must be a vector of integers but has shape {}", what, tensor.shape().to_string()));
  return tensor.to_int64();
}

bool others_are_constant(const Graph& graph, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kAbsent && graph.constant(node.inputs[i]) == nullptr) return false;
  return graph.constant(node.inputs[0]) == nullptr;
}

std::span<const Layer> movement_layers() {
  static const std::vector<Layer> layers{
      concat_layer(),
      split_layer(),
      slice_layer(),
      pad_layer(),
      transpose_layer(),
      transpose_rows_layer(),
      reshape_layer(),
      flatten_layer(),
      squeeze_layer(),
      unsqueeze_layer(),
      expand_layer(),
      tile_layer(),
      depth_to_space_layer(),
      space_to_depth_layer(),
      gather_layer(),
      gather_elements_layer(),
      gather_nd_layer(),
      scatter_elements_layer(),
      scatter_nd_layer(),
      resize_layer(),
      shape_layer(),
      size_layer(),
      constant_of_shape_layer(),
      range_layer(),
      one_hot_layer(),
      eye_like_layer(),
      trilu_layer(),
      reverse_sequence_layer(),
      non_zero_layer(),
  };
  return layers;
}

}  // namespace espalier
