#include "graphs/onnx/tensor_proto.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/external_data.hpp"

namespace espalier {
namespace {

using onnx::TensorProto;

/// Rank and extents that no sane tensor exceeds; keeps every later product of extents within 64 bits.
constexpr int kMaxRank = 64;

Shape shape_of(const TensorProto& proto) {
  if (proto.dims_size() > kMaxRank)
    throw InputError(fmt::format("rank {}, at most {} is accepted", proto.dims_size(), kMaxRank));
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  std::int64_t product = 1;
  for (std::int64_t d : dims)
    if (d < 0 || __builtin_mul_overflow(product, std::max<std::int64_t>(d, 1), &product) ||
        product > (std::int64_t{1} << 48))
      throw InputError(fmt::format("extents {} are not accepted", Shape(dims).to_string()));
  return Shape(std::move(dims));
}

template <class To, class Field>
void fill(Tensor& tensor, const Field& field) {
  To* out = static_cast<To*>(tensor.mutable_data());
  for (const auto& value : field) *out++ = static_cast<To>(value);
}

int typed_count(const TensorProto& p, DType type) {
  switch (type) {
    case DType::f32:
      return p.float_data_size();
    case DType::f64:
      return p.double_data_size();
    case DType::i64:
      return p.int64_data_size();
    case DType::u32:
    case DType::u64:
      return p.uint64_data_size();
    default:
      return p.int32_data_size();
  }
}

void fill_typed(Tensor& t, const TensorProto& p) {
  switch (t.dtype()) {
    case DType::f32:
      return fill<float>(t, p.float_data());
    case DType::f64:
      return fill<double>(t, p.double_data());
    case DType::i64:
      return fill<std::int64_t>(t, p.int64_data());
    case DType::u64:
      return fill<std::uint64_t>(t, p.uint64_data());
    case DType::u32:
      return fill<std::uint32_t>(t, p.uint64_data());
    case DType::i32:
      return fill<std::int32_t>(t, p.int32_data());
    case DType::i16:
      return fill<std::int16_t>(t, p.int32_data());
    case DType::i8:
      return fill<std::int8_t>(t, p.int32_data());
    case DType::f16:
    case DType::bf16:
    case DType::u16:
      return fill<std::uint16_t>(t, p.int32_data());
    case DType::u8:
    case DType::boolean:
      return fill<std::uint8_t>(t, p.int32_data());
  }
}

/// A boolean is stored as 0 or 1, whatever the file has.
void normalise_booleans(Tensor& t) {
  auto* p = static_cast<std::uint8_t*>(t.mutable_data());
  for (std::int64_t i = 0; i < t.elements(); ++i) p[i] = p[i] != 0;
}

Tensor read(TensorProto& proto, const std::filesystem::path& folder) {
  const DType dtype = dtype_of_onnx(proto.data_type());
  if (proto.has_segment()) throw InputError("segmented tensors are not accepted");
  const TensorType type{dtype, shape_of(proto)};
  if (proto.data_location() == TensorProto::EXTERNAL) return read_external_data(proto, folder, type);
  if (proto.has_raw_data()) {
    if (static_cast<std::int64_t>(proto.raw_data().size()) != type.bytes())
      throw InputError(fmt::format("{} bytes of data, {} needs {}", proto.raw_data().size(), type.to_string(),
                                   type.bytes()));
    Tensor tensor(dtype, type.shape);
    if (!proto.raw_data().empty())
      std::memcpy(tensor.mutable_data(), proto.raw_data().data(), proto.raw_data().size());
    std::string().swap(*proto.mutable_raw_data());
    return tensor;
  }
  if (typed_count(proto, dtype) != type.shape.elements())
    throw InputError(fmt::format("{} values, {} needs {}", typed_count(proto, dtype), type.to_string(),
                                 type.shape.elements()));
  Tensor tensor(dtype, type.shape);
  fill_typed(tensor, proto);
  return tensor;
}

}  // namespace

DType dtype_of_onnx(int data_type) {
  switch (data_type) {
    case TensorProto::FLOAT:
      return DType::f32;
    case TensorProto::DOUBLE:
      return DType::f64;
    case TensorProto::FLOAT16:
      return DType::f16;
    case TensorProto::BFLOAT16:
      return DType::bf16;
    case TensorProto::INT8:
      return DType::i8;
    case TensorProto::INT16:
      return DType::i16;
    case TensorProto::INT32:
      return DType::i32;
    case TensorProto::INT64:
      return DType::i64;
    case TensorProto::UINT8:
      return DType::u8;
    case TensorProto::UINT16:
      return DType::u16;
    case TensorProto::UINT32:
      return DType::u32;
    case TensorProto::UINT64:
      return DType::u64;
    case TensorProto::BOOL:
      return DType::boolean;
    default:
      break;
  }
  const std::string name =
      onnx::TensorProto_DataType_IsValid(data_type)
          ? onnx::TensorProto_DataType_Name(static_cast<TensorProto::DataType>(data_type))
          : std::to_string(data_type);
  throw InputError(
      fmt::format("element type {} is not supported; accepted are floating point, integers and bool", name));
}

Tensor to_tensor(TensorProto& proto, const std::filesystem::path& folder) {
  try {
    Tensor tensor = read(proto, folder);
    if (tensor.dtype() == DType::boolean) normalise_booleans(tensor);
    return tensor;
  } catch (const InputError& error) {
    throw InputError(fmt::format("tensor '{}': {}", proto.name(), error.what()));
  }
}

}  // namespace espalier
