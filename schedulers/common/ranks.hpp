#pragma once

#include <vector>

#include "schedulers/common/instance.hpp"

namespace espalier {

/// Upward rank, Topcuoglu et al. 2002, eq. (3): mean cost plus the longest way to the end over successors'
/// ranks and mean transfers. O(n + e).
std::vector<double> upward_ranks(const Instance& instance);

/// Downward rank, Topcuoglu et al. 2002, eq. (5): longest way from the start, without the task itself.
std::vector<double> downward_ranks(const Instance& instance);

/// Static b-level: longest way to the end with each task on its fastest worker and no transfer. A task that
/// starts at s cannot let the graph end before s + static_levels[t].
std::vector<double> static_levels(const Instance& instance);

/// Earliest start of each task with each task on its fastest worker and no transfer.
std::vector<double> earliest_starts(const Instance& instance);

/// Optimistic cost table, Arabnejad & Barbosa 2014, eq. (3): for a task on a place, the longest of the
/// shortest ways from its end to the end of the graph. Workers of one kind and memory are one place.
class OptimisticCosts {
 public:
  /// O(e g) for g places.
  explicit OptimisticCosts(const Instance& instance);
  double at(TaskId t, WorkerId w) const { return table_[t * places_ + place_of_[w]]; }
  /// Mean over the workers, eq. (4).
  double rank(TaskId t) const { return rank_[t]; }

 private:
  std::size_t places_ = 0;
  std::vector<std::uint16_t> place_of_;
  std::vector<double> table_, rank_;
};

/// Tasks by falling key, ties by id.
std::vector<TaskId> by_falling(const std::vector<double>& key);

}  // namespace espalier
