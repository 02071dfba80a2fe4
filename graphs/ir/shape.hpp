#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace espalier {

/// Extents of a tensor, outermost first. A negative extent (kDynamic) is not bound yet; after binding a graph
/// every extent is >= 0. A scalar has rank 0 and one element.
class Shape {
 public:
  static constexpr std::int64_t kDynamic = -1;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::int64_t> dims) : dims_(std::move(dims)) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  /// Extent of an axis; a negative axis counts from the end. InternalError when out of range.
  std::int64_t operator[](int axis) const { return dims_[index(axis)]; }
  std::int64_t& operator[](int axis) { return dims_[index(axis)]; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  /// Product of the extents; of a part of them for [first, last). InputError on overflow past 2^62.
  std::int64_t elements() const { return elements(0, rank()); }
  std::int64_t elements(int first, int last) const;
  /// Row-major strides in elements.
  std::vector<std::int64_t> strides() const;
  bool is_static() const;
  /// "[2, 3, 224, 224]", "?" for an extent that is not bound.
  std::string to_string() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::size_t index(int axis) const;
  std::vector<std::int64_t> dims_;
};

/// NumPy broadcasting of two shapes. InputError naming both when they do not broadcast.
Shape broadcast(const Shape& a, const Shape& b);

/// axis in [-rank, rank) made non-negative. InputError naming `what` otherwise.
int normalise_axis(std::int64_t axis, int rank, const char* what = "axis");

/// out[i] = in[perm[i]], as ONNX Transpose does with shapes.
Shape permuted(const Shape& s, std::span<const int> perm);

}  // namespace espalier
