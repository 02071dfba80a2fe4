#include "graphs/ir/tensor.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::size_t kAlignment = 64;

/// Calls f(T{}) with the storage type of a dtype; half types arrive as their own tag and decode through
/// `get`.
template <class Out>
std::vector<Out> convert(const Tensor& t) {
  std::vector<Out> out(static_cast<std::size_t>(t.elements()));
  const auto copy = [&]<class T>(T) {
    const T* p = static_cast<const T*>(t.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Out>(p[i]);
  };
  const auto decode = [&](float (*f)(std::uint16_t)) {
    const auto* p = static_cast<const std::uint16_t*>(t.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Out>(f(p[i]));
  };
  switch (t.dtype()) {
    case DType::f32:
      copy(float{});
      break;
    case DType::f64:
      copy(double{});
      break;
    case DType::f16:
      decode(f16_to_f32);
      break;
    case DType::bf16:
      decode(bf16_to_f32);
      break;
    case DType::i8:
      copy(std::int8_t{});
      break;
    case DType::i16:
      copy(std::int16_t{});
      break;
    case DType::i32:
      copy(std::int32_t{});
      break;
    case DType::i64:
      copy(std::int64_t{});
      break;
    case DType::u8:
    case DType::boolean:
      copy(std::uint8_t{});
      break;
    case DType::u16:
      copy(std::uint16_t{});
      break;
    case DType::u32:
      copy(std::uint32_t{});
      break;
    case DType::u64:
      copy(std::uint64_t{});
      break;
  }
  return out;
}

}  // namespace

std::int64_t TensorType::bytes() const {
  std::int64_t n = 0;
  if (__builtin_mul_overflow(shape.elements(), static_cast<std::int64_t>(size_of(dtype)), &n))
    throw InputError(fmt::format("{} has too many bytes", to_string()));
  return n;
}

std::string TensorType::to_string() const {
  return fmt::format("{} {}", name_of(dtype), shape.to_string());
}

Tensor::Tensor(DType dtype, Shape shape) : type_{dtype, std::move(shape)} {
  const auto size = (static_cast<std::size_t>(bytes()) + kAlignment - 1) / kAlignment * kAlignment;
  void* p = std::aligned_alloc(kAlignment, size == 0 ? kAlignment : size);
  if (p == nullptr)
    throw InputError(fmt::format("{}: {} bytes cannot be allocated", type_.to_string(), size));
  std::memset(p, 0, size);
  owner_ = std::shared_ptr<const void>(p, [](const void* q) { std::free(const_cast<void*>(q)); });
  data_ = p;
}

Tensor::Tensor(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner)
    : type_{dtype, std::move(shape)}, data_(data), owner_(std::move(owner)) {}

void Tensor::require(DType t) const {
  if (t != type_.dtype)
    throw InternalError(fmt::format("tensor of {} read as {}", name_of(type_.dtype), name_of(t)));
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != elements())
    throw InternalError(fmt::format("{} reshaped to {}", type_.to_string(), shape.to_string()));
  Tensor t = *this;
  t.type_.shape = std::move(shape);
  return t;
}

std::vector<std::int64_t> Tensor::to_int64() const {
  if (is_float(dtype())) throw InputError(fmt::format("{} where integers are needed", type_.to_string()));
  return convert<std::int64_t>(*this);
}

std::vector<double> Tensor::to_double() const {
  return convert<double>(*this);
}

float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t f32_to_bf16(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((u >> 16) | 0x40);
  return static_cast<std::uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

float f16_to_f32(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int mantissa = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 0x1f) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa | 0x400), exponent - 25);
}

std::uint16_t f32_to_f16(float value) {
  const auto u = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const float a = std::fabs(value);
  if (a >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (a < 6.103515625e-05F)  // subnormal: units of 2^-24, to nearest even as the mode of the processor is
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(std::ldexp(a, 24))));
  const auto m = std::bit_cast<std::uint32_t>(a);
  const std::uint32_t rounded = m + 0xfff + ((m >> 13) & 1);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23)) >> 13));
}

}  // namespace espalier
