#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/movement/indices.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", 0), view.shape(0).rank());
}

LayerCost gather_cost(const NodeView& view) {
  const Bytes out(view.outputs[0]->bytes());
  return {Flops(0), out + Bytes(view.inputs[1]->bytes()), out};
}

// ---- Gather: out[a..., i..., b...] = data[a..., indices[i...], b...]

std::vector<TensorType> infer_gather(const NodeView& view) {
  require_index_type(view, 1, "indices");
  const Shape& data = view.shape(0);
  const int axis = axis_of(view);
  std::vector<std::int64_t> dims(data.begin(), data.begin() + axis);
  dims.insert(dims.end(), view.shape(1).begin(), view.shape(1).end());
  dims.insert(dims.end(), data.begin() + axis + 1, data.end());
  if (view.constants[1] != nullptr)
    for (std::int64_t i : view.constants[1]->to_int64()) checked_index(i, data[axis], axis);
  return {{view.inputs[0]->dtype, Shape(std::move(dims))}};
}

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(const NodeView& view) {
    const Shape& data = view.shape(0);
    axis_ = axis_of(view);
    outer_ = data.elements(0, axis_);
    extent_ = data[axis_];
    block_ = static_cast<std::size_t>(data.elements(axis_ + 1, data.rank())) * size_of(view.inputs[0]->dtype);
    count_ = view.shape(1).elements();
    index_type_ = view.inputs[1]->dtype;
  }
  void run(const KernelArguments& arguments) override {
    const char* src = static_cast<const char*>(arguments.inputs[0]);
    char* dst = static_cast<char*>(arguments.outputs[0]);
    if (block_ == 0) return;
    for (std::int64_t o = 0; o < outer_; ++o, src += static_cast<std::size_t>(extent_) * block_)
      for (std::int64_t i = 0; i < count_; ++i, dst += block_) {
        const std::int64_t at =
            checked_index(read_index(arguments.inputs[1], index_type_, i), extent_, axis_);
        if (block_ == 4)
          std::memcpy(dst, src + 4 * at, 4);
        else
          std::memcpy(dst, src + static_cast<std::size_t>(at) * block_, block_);
      }
  }

 private:
  int axis_;
  std::int64_t outer_, extent_, count_;
  std::size_t block_;
  DType index_type_;
};

/// With one constant index or a vector of them the axes keep their order. A run-time index would have to
/// be permuted too.
std::optional<std::vector<int>> permute_gather(Graph& graph, Node& node, std::span<const int> perm) {
  if (!others_are_constant(graph, node)) return std::nullopt;
  const int index_rank = graph.constant(node.inputs[1])->shape().rank();
  if (index_rank > 1) return std::nullopt;
  const int axis = normalise_axis(node.attributes.get_int("axis", 0), static_cast<int>(perm.size()));
  node.attributes.set("axis", std::int64_t{inverse_permutation(perm)[static_cast<std::size_t>(axis)]});
  std::vector<int> out;
  for (int p : perm)
    if (index_rank == 1)
      out.push_back(p);
    else if (p != axis)
      out.push_back(p < axis ? p : p - 1);
  return out;
}

// ---- GatherElements: out[i] = data[i with its axis replaced by indices[i]]

std::vector<TensorType> infer_elements(const NodeView& view) {
  require_index_type(view, 1, "indices");
  const Shape& data = view.shape(0);
  const Shape& indices = view.shape(1);
  const int axis = axis_of(view);
  bool good = data.rank() == indices.rank();
  for (int a = 0; good && a < data.rank(); ++a) good = a == axis || indices[a] <= data[a];
  if (!good)
    throw InputError(fmt::format("indices of shape {} do not lie inside data of shape {} (axis {})",
                                 indices.to_string(), data.to_string(), axis));
  return {{view.inputs[0]->dtype, indices}};
}

class GatherElementsKernel final : public Kernel {
 public:
  explicit GatherElementsKernel(const NodeView& view)
      : axis_(axis_of(view)),
        shape_(view.shape(1)),
        extent_(view.shape(0)[axis_]),
        strides_(view.shape(0).strides()),
        bytes_(size_of(view.inputs[0]->dtype)),
        index_type_(view.inputs[1]->dtype),
        index_(static_cast<std::size_t>(shape_.rank())) {}
  void run(const KernelArguments& arguments) override {
    std::fill(index_.begin(), index_.end(), 0);
    const char* src = static_cast<const char*>(arguments.inputs[0]);
    char* dst = static_cast<char*>(arguments.outputs[0]);
    const auto axis = static_cast<std::size_t>(axis_);
    const std::int64_t n = shape_.elements();
    for (std::int64_t e = 0; e < n; ++e, dst += bytes_) {
      const std::int64_t at = checked_index(read_index(arguments.inputs[1], index_type_, e), extent_, axis_);
      const std::int64_t from = offset_of(index_, strides_) + (at - index_[axis]) * strides_[axis];
      std::memcpy(dst, src + static_cast<std::size_t>(from) * bytes_, bytes_);
      for (int k = shape_.rank() - 1; k >= 0; --k) {
        if (++index_[static_cast<std::size_t>(k)] < shape_[k]) break;
        index_[static_cast<std::size_t>(k)] = 0;
      }
    }
  }

 private:
  int axis_;
  Shape shape_;
  std::int64_t extent_;
  std::vector<std::int64_t> strides_;
  std::size_t bytes_;
  DType index_type_;
  std::vector<std::int64_t> index_;
};

// ---- GatherND: out[b..., i..., d...] = data[b..., indices[b..., i..., :], d...]

std::vector<TensorType> infer_nd(const NodeView& view) {
  require_index_type(view, 1, "indices");
  const Shape& data = view.shape(0);
  const Shape& indices = view.shape(1);
  const std::int64_t batch = view.attributes().get_int("batch_dims", 0);
  bool good = batch >= 0 && indices.rank() >= 1 && batch < indices.rank() && batch < data.rank();
  for (int a = 0; good && a < batch; ++a) good = data[a] == indices[a];
  good = good && indices[-1] >= 1 && batch + indices[-1] <= data.rank();
  if (!good)
    throw InputError(fmt::format("indices of shape {} do not fit data of shape {} with batch_dims {}",
                                 indices.to_string(), data.to_string(), batch));
  std::vector<std::int64_t> dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), data.begin() + batch + indices[-1], data.end());
  return {{view.inputs[0]->dtype, Shape(std::move(dims))}};
}

class GatherNdKernel final : public Kernel {
 public:
  explicit GatherNdKernel(const NodeView& view)
      : data_(view.shape(0)), strides_(data_.strides()), index_type_(view.inputs[1]->dtype) {
    const Shape& indices = view.shape(1);
    batch_dims_ = static_cast<int>(view.attributes().get_int("batch_dims", 0));
    depth_ = static_cast<int>(indices[-1]);
    batches_ = indices.elements(0, batch_dims_);
    tuples_ = indices.elements(batch_dims_, indices.rank() - 1);
    batch_stride_ = data_.elements(batch_dims_, data_.rank());
    bytes_ = size_of(view.inputs[0]->dtype);
    block_ = static_cast<std::size_t>(data_.elements(batch_dims_ + depth_, data_.rank())) * bytes_;
  }
  void run(const KernelArguments& arguments) override {
    const char* src = static_cast<const char*>(arguments.inputs[0]);
    char* dst = static_cast<char*>(arguments.outputs[0]);
    if (block_ == 0) return;
    std::int64_t i = 0;
    for (std::int64_t b = 0; b < batches_; ++b)
      for (std::int64_t t = 0; t < tuples_; ++t, dst += block_) {
        std::int64_t from = b * batch_stride_;
        for (int k = 0; k < depth_; ++k) {
          const int axis = batch_dims_ + k;
          from += checked_index(read_index(arguments.inputs[1], index_type_, i++), data_[axis], axis) *
                  strides_[static_cast<std::size_t>(axis)];
        }
        std::memcpy(dst, src + static_cast<std::size_t>(from) * bytes_, block_);
      }
  }

 private:
  Shape data_;
  std::vector<std::int64_t> strides_;
  DType index_type_;
  int batch_dims_, depth_;
  std::int64_t batches_, tuples_, batch_stride_;
  std::size_t bytes_, block_;
};

template <class K>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return std::make_unique<K>(view);
}

constexpr Implementation kGather[] = {{"reference", never_refuses, prepare<GatherKernel>}};
constexpr Implementation kElements[] = {{"reference", never_refuses, prepare<GatherElementsKernel>}};
constexpr Implementation kNd[] = {{"reference", never_refuses, prepare<GatherNdKernel>}};

}  // namespace

Layer gather_layer() {
  return {.op = "Gather",
          .summary = "takes entries along an axis",
          .min_inputs = 2,
          .max_inputs = 2,
          .layout = LayoutRule::any,
          .infer = infer_gather,
          .cost = gather_cost,
          .permute = permute_gather,
          .implementations = kGather};
}

Layer gather_elements_layer() {
  return {.op = "GatherElements",
          .summary = "takes one element along an axis for each index",
          .min_inputs = 2,
          .max_inputs = 2,
          .infer = infer_elements,
          .cost = gather_cost,
          .implementations = kElements};
}

Layer gather_nd_layer() {
  return {.op = "GatherND",
          .summary = "takes slices by index tuples",
          .min_inputs = 2,
          .max_inputs = 2,
          .infer = infer_nd,
          .cost = gather_cost,
          .implementations = kNd};
}

}  // namespace espalier
