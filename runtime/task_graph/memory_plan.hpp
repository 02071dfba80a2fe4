#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Static memory planning (Pisarchyk & Lee 2020, "Efficient memory management for deep neural net
/// inference", section 4): greedy by size, once for shared buffers and once for offsets.
namespace espalier {

/// A value's life: written in step `first`, last read in step `last` (inclusive).
struct Lifetime {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;
};

struct OffsetPlan {
  std::vector<std::int64_t> offsets;  ///< multiples of 64
  std::int64_t bytes = 0;
};
/// Offsets in one arena so that values alive together never overlap. O(n^2) for n values.
OffsetPlan plan_offsets(std::span<const Lifetime> values);

/// Which segments run before which, by transitive closure.
class Reachability {
 public:
  /// predecessors[s] name smaller segments.
  explicit Reachability(const std::vector<std::vector<std::int32_t>>& predecessors);
  bool before(std::int32_t a, std::int32_t b) const {
    return (bits_[static_cast<std::size_t>(b) * words_ + static_cast<std::size_t>(a) / 64] >>
            (static_cast<std::size_t>(a) % 64)) &
           1;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct SharedValue {
  std::int64_t bytes = 0;
  std::vector<std::int32_t> producers;
  std::vector<std::int32_t> readers;
  /// Bytes at which the value is divided among several writers; empty: it is written as a whole.
  std::vector<std::int64_t> cuts = {};
};

struct BufferPlan {
  std::vector<std::uint32_t> buffer;            ///< by value
  std::vector<std::int64_t> bytes;              ///< by buffer
  std::vector<std::vector<std::int64_t>> cuts;  ///< by buffer
};
/// Values share a buffer only where every user of one runs before the producer of the other because of the
/// graph itself: sharing adds no dependency, so it costs no parallelism. Divided values share only where they
/// are divided alike: then each part of the buffer is one data handle.
BufferPlan plan_buffers(std::span<const SharedValue> values, const Reachability& order);

}  // namespace espalier
