#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/platform/platform.hpp"

namespace espalier::model {

/// Which memory holds a valid copy of which datum, how full the memories are, and whom to evict. A memory is
/// bounded when all data together exceed its capacity; only for those is the order of eviction kept.
class Replicas {
 public:
  Replicas(const TaskGraph& graph, const Platform& platform);

  bool valid(DataId d, MemoryId m) const { return (word(valid_, d, m) >> (m & 63) & 1) != 0; }
  bool arriving(DataId d, MemoryId m) const { return (word(arriving_, d, m) >> (m & 63) & 1) != 0; }
  void set_arriving(DataId d, MemoryId m, bool on) { set(arriving_, d, m, on); }
  /// Marks a copy whose bytes are accounted for already (reserve()).
  void set_valid(DataId d, MemoryId m);
  /// Gives the copy up and its bytes back.
  void drop(DataId d, MemoryId m);
  template <class F>
  void for_each_valid(DataId d, F&& f) const {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t bits = valid_[d * words_ + w]; bits != 0; bits &= bits - 1)
        f(static_cast<MemoryId>(w * 64 + std::countr_zero(bits)));
  }
  bool valid_elsewhere(DataId d, MemoryId m) const;

  void reserve(MemoryId m, std::int64_t bytes) {
    used_[m] += bytes;
    if (used_[m] > peak_[m]) peak_[m] = used_[m];
  }
  void release(MemoryId m, std::int64_t bytes) { used_[m] -= bytes; }
  std::int64_t used(MemoryId m) const { return used_[m]; }
  std::int64_t free(MemoryId m) const { return capacity_[m] - used_[m]; }
  const std::vector<std::int64_t>& peak() const { return peak_; }
  bool bounded(MemoryId m) const { return !records_[m].empty(); }

  /// A pinned copy is not evicted. Only for bounded memories.
  void pin(DataId d, MemoryId m) { ++records_[m][d].pins; }
  /// The last pin gone, the copy may be evicted: greatest `key` first.
  void unpin(DataId d, MemoryId m, double key);
  /// Enters a copy that nobody has pinned, or changes its key.
  void make_evictable(DataId d, MemoryId m, double key);
  bool pinned(DataId d, MemoryId m) const { return records_[m][d].pins != 0; }
  /// The copy to give up next, taken off the list; nullopt when all are pinned.
  std::optional<DataId> take_victim(MemoryId m);

 private:
  struct Record {
    std::uint32_t pins = 0;
    std::uint32_t stamp = 0;  ///< an entry of another stamp is void
  };
  struct Candidate {
    double key;
    DataId data;
    std::uint32_t stamp;
  };
  static bool less(const Candidate& a, const Candidate& b) {
    return a.key != b.key ? a.key < b.key : a.data > b.data;
  }
  const std::uint64_t& word(const std::vector<std::uint64_t>& bits, DataId d, MemoryId m) const {
    return bits[d * words_ + m / 64];
  }
  void set(std::vector<std::uint64_t>& bits, DataId d, MemoryId m, bool on) {
    std::uint64_t& w = bits[d * words_ + m / 64];
    const std::uint64_t bit = std::uint64_t{1} << (m & 63);
    w = on ? w | bit : w & ~bit;
  }

  const TaskGraph& graph_;
  std::size_t words_;
  std::vector<std::uint64_t> valid_, arriving_;
  std::vector<std::int64_t> used_, peak_, capacity_;
  std::vector<std::vector<Record>> records_;  ///< by memory, by datum; empty: not bounded
  std::vector<std::vector<Candidate>> candidates_;
};

}  // namespace espalier::model
