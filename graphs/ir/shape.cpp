#include "graphs/ir/shape.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"

namespace espalier {

std::size_t Shape::index(int axis) const {
  const int i = axis < 0 ? axis + rank() : axis;
  if (i < 0 || i >= rank()) throw InternalError(fmt::format("axis {} of a shape of rank {}", axis, rank()));
  return static_cast<std::size_t>(i);
}

std::int64_t Shape::elements(int first, int last) const {
  std::int64_t n = 1;
  for (int i = first; i < last; ++i) {
    const std::int64_t d = dims_[index(i)];
    if (d < 0) throw InternalError(fmt::format("elements of the unbound shape {}", to_string()));
    if (__builtin_mul_overflow(n, d, &n) || n > (std::int64_t{1} << 62))
      throw InputError(fmt::format("shape {} has too many elements", to_string()));
  }
  return n;
}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> s(dims_.size(), 1);
  for (int i = rank() - 2; i >= 0; --i) s[i] = s[i + 1] * dims_[i + 1];
  return s;
}

bool Shape::is_static() const {
  return std::all_of(dims_.begin(), dims_.end(), [](std::int64_t d) { return d >= 0; });
}

std::string Shape::to_string() const {
  std::vector<std::string> parts;
  for (std::int64_t d : dims_) parts.push_back(d < 0 ? "?" : std::to_string(d));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

Shape broadcast(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> out(static_cast<std::size_t>(rank));
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[-i] : 1;
    const std::int64_t y = i <= b.rank() ? b[-i] : 1;
    if (x != y && x != 1 && y != 1)
      throw InputError(fmt::format("shapes {} and {} do not broadcast: extents {} and {}", a.to_string(),
                                   b.to_string(), x, y));
    out[static_cast<std::size_t>(rank - i)] = x == 1 ? y : x;
  }
  return Shape(std::move(out));
}

int normalise_axis(std::int64_t axis, int rank, const char* what) {
  if (axis < -rank || axis >= rank)
    throw InputError(
        fmt::format("{} {} is outside [{}, {}) of a tensor of rank {}", what, axis, -rank, rank, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape permuted(const Shape& s, std::span<const int> perm) {
  std::vector<std::int64_t> out;
  out.reserve(perm.size());
  for (int p : perm) out.push_back(s[p]);
  return Shape(std::move(out));
}

}  // namespace espalier
