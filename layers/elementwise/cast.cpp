#include "layers/elementwise/cast.hpp"

#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"

namespace espalier {
namespace {

/// TensorProto.DataType of the ONNX format.
DType dtype_of_onnx(std::int64_t code) {
  switch (code) {
    case 1:
      return DType::f32;
    case 2:
      return DType::u8;
    case 3:
      return DType::i8;
    case 4:
      return DType::u16;
    case 5:
      return DType::i16;
    case 6:
      return DType::i32;
    case 7:
      return DType::i64;
    case 9:
      return DType::boolean;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 12:
      return DType::u32;
    case 13:
      return DType::u64;
    case 16:
      return DType::bf16;
    default:
      throw InputError(fmt::format(
          "attribute to is {}; accepted are the numeric types and bool: 1-7, 9-13, 16 of ONNX's TensorProto",
          code));
  }
}

DType target_of(const NodeView& view) {
  if (!view.has_input(0)) throw InputError("input 0 is missing");
  if (view.op() == "Identity") return view.inputs[0]->dtype;
  if (view.op() == "Cast") return dtype_of_onnx(view.attributes().get_int("to"));
  if (!view.has_input(1)) throw InputError("input 1, whose type is the target, is missing");
  return view.inputs[1]->dtype;
}

using Row = void (*)(const void* x, void* y, std::int64_t n);

template <class From, class To>
void convert_row(const void* px, void* py, std::int64_t n) {
  const From* x = static_cast<const From*>(px);
  To* y = static_cast<To*>(py);
  for (std::int64_t i = 0; i < n; ++i) y[i] = To(convert_element<To>(x[i]));
}

template <class T>
void copy_row(const void* x, void* y, std::int64_t n) {
  if (x != y && n > 0) std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
}

Row row_of(DType from, DType to) {
  return dispatch(AllTypes{}, from, [&](auto f) {
    return dispatch(AllTypes{}, to, [](auto t) -> Row {
      using From = typename decltype(decltype(f){})::type;
      using To = typename decltype(t)::type;
      if constexpr (std::is_same_v<From, To>)
        return &copy_row<From>;
      else
        return &convert_row<From, To>;
    });
  });
}

class CastKernel final : public Kernel {
 public:
  explicit CastKernel(const NodeView& view)
      : row_(row_of(view.inputs[0]->dtype, view.outputs[0]->dtype)),
        elements_(view.outputs[0]->shape.elements()),
        in_place_(view.inputs[0]->dtype == view.outputs[0]->dtype) {}
  void run(const KernelArguments& arguments) override {
    row_(arguments.inputs[0], arguments.outputs[0], elements_);
  }
  bool in_place() const override { return in_place_; }

 private:
  Row row_;
  std::int64_t elements_;
  bool in_place_;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<CastKernel>(view);
     }},
};

Layer cast(std::string_view op, std::string_view summary, int inputs) {
  Layer layer;
  layer.op = op;
  layer.summary = summary;
  layer.min_inputs = layer.max_inputs = inputs;
  layer.layout = LayoutRule::any;
  layer.alias = op == "Identity";
  layer.infer = [](const NodeView& view) {
    return std::vector<TensorType>{{target_of(view), view.shape(0)}};
  };
  layer.cost = [](const NodeView& view) { return elementwise_cost(view, view.op() == "Identity" ? 0 : 1); };
  layer.permute = permute_elementwise;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace

std::span<const Layer> cast_layers() {
  static const Layer layers[] = {
      cast("Identity", "x", 1),
      cast("Cast", "x in another dtype", 1),
      cast("CastLike", "x in the dtype of input 1", 2),
  };
  return layers;
}

}  // namespace espalier
