#include "layers/movement/strided_copy.hpp"

#include <algorithm>
#include <cstring>

namespace espalier {
namespace {

template <std::size_t N>
void copy_row(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * dst_step, src + i * src_step, N);
}

/// dst[c * N + r * dst_step] = src[c * src_step + r * N] for few columns c, such as the three of an image.
template <std::size_t N, std::int64_t kColumns>
void interleave(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r, dst += dst_step, src += N)
    for (std::int64_t c = 0; c < kColumns; ++c)
      std::memcpy(dst + c * static_cast<std::int64_t>(N), src + c * src_step, N);
}

/// The same by tiles that stay in the first-level cache.
template <std::size_t N>
void transpose_plane(char* dst, std::int64_t dst_step, const char* src, std::int64_t src_step,
                     std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kTile = 16;
  constexpr auto kBytes = static_cast<std::int64_t>(N);
  if (columns == 2) return interleave<N, 2>(dst, dst_step, src, src_step, rows);
  if (columns == 3) return interleave<N, 3>(dst, dst_step, src, src_step, rows);
  if (columns == 4) return interleave<N, 4>(dst, dst_step, src, src_step, rows);
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const std::int64_t r1 = std::min(rows, r0 + kTile);
    for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
      const std::int64_t c1 = std::min(columns, c0 + kTile);
      for (std::int64_t r = r0; r < r1; ++r)
        for (std::int64_t c = c0; c < c1; ++c)
          std::memcpy(dst + r * dst_step + c * kBytes, src + c * src_step + r * kBytes, N);
    }
  }
}

}  // namespace

CopyPlan::CopyPlan(StridedCopy copy) : copy_(std::move(copy)), block_bytes_(copy_.element_bytes) {
  const auto bytes = static_cast<std::int64_t>(copy_.element_bytes);
  for (std::int64_t& s : copy_.dst_strides) s *= bytes;
  for (std::int64_t& s : copy_.src_strides) s *= bytes;
  copy_.dst_offset *= bytes;
  copy_.src_offset *= bytes;
  empty_ = std::find(copy_.extents.begin(), copy_.extents.end(), 0) != copy_.extents.end();
  if (empty_) return;
  merge_axes();
  auto& [extents, dst, src, dst_offset, src_offset, element] = copy_;
  const std::size_t rank = extents.size();
  if (rank < 2 || dst[rank - 1] != bytes || src[rank - 1] == bytes) return;
  // find the axis along which the source is contiguous and put it just outside the last one
  for (std::size_t k = 0; k + 1 < rank; ++k) {
    if (src[k] != bytes) continue;
    for (auto* v : {&extents, &dst, &src})
      std::rotate(v->begin() + static_cast<std::ptrdiff_t>(k),
                  v->begin() + static_cast<std::ptrdiff_t>(k) + 1, v->end() - 1);
    transposed_ = true;
    return;
  }
}

void CopyPlan::merge_axes() {
  std::vector<std::int64_t> extents, dst, src;
  for (std::size_t k = 0; k < copy_.extents.size(); ++k) {
    const std::int64_t n = copy_.extents[k];
    if (n == 1) continue;
    const std::int64_t d = copy_.dst_strides[k];
    const std::int64_t s = copy_.src_strides[k];
    if (!extents.empty() && dst.back() == d * n && src.back() == s * n) {
      extents.back() *= n;
      dst.back() = d;
      src.back() = s;
      continue;
    }
    extents.push_back(n);
    dst.push_back(d);
    src.push_back(s);
  }
  const auto bytes = static_cast<std::int64_t>(copy_.element_bytes);
  if (!extents.empty() && dst.back() == bytes && src.back() == bytes) {
    block_bytes_ = static_cast<std::size_t>(bytes * extents.back());
    extents.pop_back();
    dst.pop_back();
    src.pop_back();
  }
  copy_.extents = std::move(extents);
  copy_.dst_strides = std::move(dst);
  copy_.src_strides = std::move(src);
}

void CopyPlan::run(void* dst, const void* src) const {
  if (empty_) return;
  run_outer(0, static_cast<char*>(dst) + copy_.dst_offset, static_cast<const char*>(src) + copy_.src_offset);
}

void CopyPlan::run_outer(std::size_t axis, char* dst, const char* src) const {
  const std::size_t left = copy_.extents.size() - axis;
  if (left == 0) {
    std::memcpy(dst, src, block_bytes_);
  } else if (left == 1) {
    run_inner(axis, dst, src);
  } else if (left == 2 && transposed_) {
    run_transposed(axis, dst, src);
  } else {
    for (std::int64_t i = 0; i < copy_.extents[axis]; ++i)
      run_outer(axis + 1, dst + i * copy_.dst_strides[axis], src + i * copy_.src_strides[axis]);
  }
}

void CopyPlan::run_inner(std::size_t axis, char* dst, const char* src) const {
  const std::int64_t n = copy_.extents[axis];
  const std::int64_t d = copy_.dst_strides[axis];
  const std::int64_t s = copy_.src_strides[axis];
  switch (block_bytes_) {
    case 1:
      return copy_row<1>(dst, d, src, s, n);
    case 2:
      return copy_row<2>(dst, d, src, s, n);
    case 4:
      return copy_row<4>(dst, d, src, s, n);
    case 8:
      return copy_row<8>(dst, d, src, s, n);
    case 12:
      return copy_row<12>(dst, d, src, s, n);
    case 16:
      return copy_row<16>(dst, d, src, s, n);
    case 32:
      return copy_row<32>(dst, d, src, s, n);
    case 64:
      return copy_row<64>(dst, d, src, s, n);
    default:
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(dst + i * d, src + i * s, block_bytes_);
  }
}

void CopyPlan::run_transposed(std::size_t axis, char* dst, const char* src) const {
  const std::int64_t rows = copy_.extents[axis];
  const std::int64_t columns = copy_.extents[axis + 1];
  const std::int64_t d = copy_.dst_strides[axis];
  const std::int64_t s = copy_.src_strides[axis + 1];
  switch (copy_.element_bytes) {
    case 1:
      return transpose_plane<1>(dst, d, src, s, rows, columns);
    case 2:
      return transpose_plane<2>(dst, d, src, s, rows, columns);
    case 4:
      return transpose_plane<4>(dst, d, src, s, rows, columns);
    default:
      return transpose_plane<8>(dst, d, src, s, rows, columns);
  }
}

}  // namespace espalier
