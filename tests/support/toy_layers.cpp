#include "tests/support/toy_layers.hpp"

#include <cstring>
#include <numeric>

#include "graphs/base/error.hpp"

namespace espalier::test {
namespace {

using Types = std::vector<TensorType>;
using Run = void (*)(const NodeView&, const KernelArguments&);

/// Keeps what the run needs, since a view does not outlive preparation.
class ToyKernel final : public Kernel {
 public:
  ToyKernel(const NodeView& view, Run function) : node_(view.node), run_(function) {
    for (const TensorType* t : view.inputs) inputs_.push_back(t == nullptr ? TensorType{} : *t);
    for (const TensorType* t : view.outputs) outputs_.push_back(t == nullptr ? TensorType{} : *t);
  }
  void run(const KernelArguments& arguments) override {
    NodeView view{node_, {}, {}, {}};
    for (const TensorType& t : inputs_) view.inputs.push_back(&t);
    for (const TensorType& t : outputs_) view.outputs.push_back(&t);
    run_(view, arguments);
  }

 private:
  Node node_;
  Types inputs_;
  Types outputs_;
  Run run_;
};

std::string applies(const NodeView&, const KernelOptions&) {
  return {};
}
template <Run run>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return std::make_unique<ToyKernel>(view, run);
}
LayerCost cost(const NodeView& view) {
  return {Flops(1), Bytes(view.inputs[0]->bytes()), Bytes(view.outputs[0]->bytes())};
}
Types same(const NodeView& view) {
  return {*view.inputs[0]};
}

template <class F>
void each_float(const NodeView& view, const KernelArguments& a, F f) {
  const auto* x = static_cast<const float*>(a.inputs[0]);
  auto* y = static_cast<float*>(a.outputs[0]);
  for (std::int64_t i = 0; i < view.inputs[0]->shape.elements(); ++i) y[i] = f(x[i], i);
}
void relu(const NodeView& v, const KernelArguments& a) {
  each_float(v, a, [](float x, std::int64_t) { return x > 0 ? x : 0; });
}
void neg(const NodeView& v, const KernelArguments& a) {
  each_float(v, a, [](float x, std::int64_t) { return -x; });
}
void spatial(const NodeView& v, const KernelArguments& a) {
  const std::int64_t channels = v.shape(0)[-1];
  each_float(v, a, [&](float x, std::int64_t i) { return static_cast<float>(i % channels) + 10 * x; });
}
void copy(const NodeView& v, const KernelArguments& a) {
  std::memcpy(a.outputs[0], a.inputs[0], static_cast<std::size_t>(v.inputs[0]->bytes()));
}

Types infer_add(const NodeView& v) {
  return {{v.inputs[0]->dtype, broadcast(v.shape(0), v.shape(1))}};
}
/// Equal shapes, or one side a single element.
template <class T>
void add_as(const NodeView& v, const KernelArguments& a) {
  const auto* x = static_cast<const T*>(a.inputs[0]);
  const auto* y = static_cast<const T*>(a.inputs[1]);
  auto* z = static_cast<T*>(a.outputs[0]);
  const std::int64_t dx = v.shape(0).elements() == 1 ? 0 : 1;
  const std::int64_t dy = v.shape(1).elements() == 1 ? 0 : 1;
  for (std::int64_t i = 0; i < v.outputs[0]->shape.elements(); ++i)
    z[i] = static_cast<T>(x[i * dx] + y[i * dy]);
}
void add(const NodeView& v, const KernelArguments& a) {
  v.inputs[0]->dtype == DType::i64 ? add_as<std::int64_t>(v, a) : add_as<float>(v, a);
}

std::vector<int> perm_of(const NodeView& v) {
  std::vector<std::int64_t> perm = v.attributes().get_ints("perm");
  if (perm.empty())
    for (int i = v.shape(0).rank() - 1; i >= 0; --i) perm.push_back(i);
  if (static_cast<int>(perm.size()) != v.shape(0).rank()) throw InputError("perm does not match the rank");
  return {perm.begin(), perm.end()};
}
Types infer_transpose(const NodeView& v) {
  return {{v.inputs[0]->dtype, permuted(v.shape(0), perm_of(v))}};
}
void transpose(const NodeView& v, const KernelArguments& a) {
  const std::vector<int> perm = perm_of(v);
  const auto in = v.shape(0).strides();
  const Shape& out = v.outputs[0]->shape;
  const auto strides = out.strides();
  const std::size_t size = size_of(v.inputs[0]->dtype);
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    std::int64_t from = 0;
    for (int d = 0; d < out.rank(); ++d) from += i / strides[d] % out[d] * in[perm[d]];
    std::memcpy(static_cast<char*>(a.outputs[0]) + i * size,
                static_cast<const char*>(a.inputs[0]) + from * size, size);
  }
}

Types infer_reshape(const NodeView& v) {
  std::vector<std::int64_t> dims = v.constant(1, "the new shape").to_int64();
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) dims[i] = v.shape(0)[static_cast<int>(i)];
    if (dims[i] == -1)
      open = &dims[i];
    else
      known *= dims[i];
  }
  if (open != nullptr) *open = v.shape(0).elements() / known;
  if (Shape(dims).elements() != v.shape(0).elements()) throw InputError("the element counts differ");
  return {{v.inputs[0]->dtype, Shape(dims)}};
}

/// Along axis 0 only.
Types infer_concat(const NodeView& v) {
  Shape shape = v.shape(0);
  for (std::size_t i = 1; i < v.inputs.size(); ++i) shape[0] += v.shape(i)[0];
  return {{v.inputs[0]->dtype, shape}};
}
void concat(const NodeView& v, const KernelArguments& a) {
  auto* out = static_cast<char*>(a.outputs[0]);
  for (std::size_t i = 0; i < v.inputs.size(); ++i) {
    std::memcpy(out, a.inputs[i], static_cast<std::size_t>(v.inputs[i]->bytes()));
    out += v.inputs[i]->bytes();
  }
}

/// Of an int64 vector, by a scalar or vector of indices.
Types infer_gather(const NodeView& v) {
  return {{v.inputs[0]->dtype, v.shape(1)}};
}
void gather(const NodeView& v, const KernelArguments& a) {
  const auto* x = static_cast<const std::int64_t*>(a.inputs[0]);
  const auto* index = static_cast<const std::int64_t*>(a.inputs[1]);
  for (std::int64_t i = 0; i < v.shape(1).elements(); ++i)
    static_cast<std::int64_t*>(a.outputs[0])[i] = x[index[i]];
}

template <Run run>
constexpr Implementation kReference[] = {{"reference", applies, prepare<run>}};

Layer make(std::string_view op, int min_inputs, int max_inputs, Types (*infer)(const NodeView&),
           std::span<const Implementation> implementations) {
  Layer layer{};
  layer.op = op;
  layer.min_inputs = min_inputs;
  layer.max_inputs = max_inputs;
  layer.infer = infer;
  layer.cost = cost;
  layer.implementations = implementations;
  return layer;
}

}  // namespace

const LayerTable& toy_layers() {
  static const LayerTable table = [] {
    Layer spatial_layer = make("SpatialToy", 1, 1, same, kReference<spatial>);
    spatial_layer.layout = LayoutRule::channels_last;
    return LayerTable({make("Relu", 1, 1, same, kReference<relu>), make("Neg", 1, 1, same, kReference<neg>),
                       make("Identity", 1, 1, same, kReference<copy>),
                       make("Add", 2, 2, infer_add, kReference<add>),
                       make("Transpose", 1, 1, infer_transpose, kReference<transpose>),
                       make("Reshape", 2, 2, infer_reshape, kReference<copy>),
                       make("Concat", 1, 1 << 20, infer_concat, kReference<concat>),
                       make("Gather", 2, 2, infer_gather, kReference<gather>), spatial_layer});
  }();
  return table;
}

}  // namespace espalier::test
