#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "graphs/ir/dtype.hpp"
#include "graphs/ir/shape.hpp"

namespace espalier {

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  std::int64_t bytes() const;     ///< InputError on overflow
  std::string to_string() const;  ///< "float32 [1, 224, 224, 3]"
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// A dense row-major tensor on the host. Copies share the storage; writing through mutable_data() is only for
/// the one that has just made it. Storage is aligned to 64 bytes.
class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled. InputError when the size cannot be allocated.
  Tensor(DType dtype, Shape shape);
  /// Shares foreign memory (a mapped file); `owner` keeps it alive.
  Tensor(DType dtype, Shape shape, const void* data, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values);
  template <class T>
  static Tensor scalar(T value) {
    return of<T>(Shape{}, std::span<const T>(&value, 1));
  }

  const TensorType& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  const Shape& shape() const { return type_.shape; }
  std::int64_t elements() const { return type_.shape.elements(); }
  std::int64_t bytes() const { return type_.bytes(); }
  const void* data() const { return data_; }
  void* mutable_data() { return const_cast<void*>(data_); }
  template <class T>
  std::span<const T> as() const;  ///< InternalError when T is not the dtype
  template <class T>
  std::span<T> as_mutable();
  /// Same storage under another shape of as many elements.
  Tensor reshaped(Shape shape) const;
  /// Values of an integer (or boolean) tensor of any width. InputError for another dtype.
  std::vector<std::int64_t> to_int64() const;
  /// Values of a tensor of any numeric dtype as double.
  std::vector<double> to_double() const;

 private:
  void require(DType t) const;
  TensorType type_;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// IEEE half and bfloat16 bit patterns.
float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_bf16(float value);

template <class T>
std::span<const T> Tensor::as() const {
  require(dtype_of<T>());
  return {static_cast<const T*>(data_), static_cast<std::size_t>(elements())};
}
template <class T>
std::span<T> Tensor::as_mutable() {
  require(dtype_of<T>());
  return {static_cast<T*>(mutable_data()), static_cast<std::size_t>(elements())};
}
template <class T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  Tensor t(dtype_of<T>(), std::move(shape));
  std::copy(values.begin(), values.end(), t.as_mutable<T>().begin());
  return t;
}

}  // namespace espalier
