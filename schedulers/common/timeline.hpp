#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

/// The busy time of one worker, with the gaps between tasks, for insertion-based list scheduling. Gaps lie in
/// a treap ordered by time that knows the longest gap below each node: earliest() and occupy() are O(log g)
/// for g gaps. Gaps shorter than the shortest task that can come are forgotten.
class Timeline {
 public:
  explicit Timeline(double shortest = 0) : shortest_(shortest) {}
  /// Earliest start >= ready at which `duration` fits.
  double earliest(double ready, double duration) const;
  /// Marks [start, finish), which must be free.
  void occupy(double start, double finish);
  /// When the last task ends.
  double end() const { return end_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Gap {
    double begin, end, longest;  ///< longest: of the subtree
    std::uint32_t left = kNone, right = kNone, rank = 0;
  };
  std::uint32_t first_fit(std::uint32_t node, double ready, double duration) const;
  void insert(double begin, double end);
  void split(std::uint32_t node, double key, std::uint32_t& low, std::uint32_t& high);
  void refresh(std::uint32_t node);

  std::vector<Gap> gaps_;
  std::vector<std::uint32_t> path_;  ///< scratch
  std::uint32_t root_ = kNone;
  std::uint32_t random_ = 0x9e3779b9;  ///< shape of the treap only; no result depends on it
  double end_ = 0, shortest_;
};

}  // namespace espalier
