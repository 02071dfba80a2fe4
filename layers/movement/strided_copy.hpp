#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

/// dst[dst_offset + sum i_k dst_strides_k] = src[src_offset + sum i_k src_strides_k] for every index below
/// `extents`; offsets and strides in elements, strides may be zero or negative on the source's side. Source
/// and destination do not overlap. Works on bytes: any dtype of 1, 2, 4 or 8 bytes.
struct StridedCopy {
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> dst_strides;
  std::vector<std::int64_t> src_strides;
  std::int64_t dst_offset = 0;
  std::int64_t src_offset = 0;
  std::size_t element_bytes = 4;
};

/// A copy made ready: unit axes dropped, axes that are one run on both sides merged, and the innermost run
/// turned into a block of bytes. Immutable and thread-safe.
class CopyPlan {
 public:
  explicit CopyPlan(StridedCopy copy);
  void run(void* dst, const void* src) const;

 private:
  void merge_axes();
  void run_outer(std::size_t axis, char* dst, const char* src) const;
  void run_inner(std::size_t axis, char* dst, const char* src) const;
  void run_transposed(std::size_t axis, char* dst, const char* src) const;

  StridedCopy copy_;             // strides in bytes once merged
  std::size_t block_bytes_ = 0;  // contiguous on both sides
  bool empty_ = false;
  bool transposed_ = false;  // the two innermost axes: dst contiguous along the last, src along the other
};

}  // namespace espalier
