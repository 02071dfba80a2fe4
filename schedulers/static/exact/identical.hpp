#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedulers/common/instance.hpp"

namespace espalier {

/// P | prec | Cmax in whole time steps: identical workers, no transfers. Tasks without duration are left out
/// (their predecessors become those of their successors). Tasks are numbered topologically.
struct Identical {
  using Steps = std::int64_t;
  int workers = 1;
  std::vector<Steps> duration;
  std::vector<std::vector<int>> before, after;  ///< direct predecessors and successors
  std::vector<TaskId> original;                 ///< task of the graph
  double step = 1;                              ///< seconds of one step
  int size() const { return static_cast<int>(duration.size()); }
  /// The same with time running backwards; task i becomes size() - 1 - i.
  Identical reversed() const;
};

/// Start of each task of an Identical, its makespan.
struct IdenticalSchedule {
  std::vector<Identical::Steps> start;
  Identical::Steps makespan = 0;
};

/// nullopt when workers differ or transfers take time.
std::optional<Identical> as_identical(const Instance& instance);

/// A plan from starts at which at most `workers` tasks overlap.
Plan to_plan(const Instance& instance, const Identical& identical, const IdenticalSchedule& schedule,
             std::string_view scheduler);

/// Heads and tails of all tasks and a lower bound on the makespan: each is the interval bound (Fernandez &
/// Bussell 1973) of the tasks before (after) it, from the sources on. O(n^4) at worst for small graphs, plain
/// path lengths above `kStrongLimit` tasks.
struct Windows {
  static constexpr int kStrongLimit = 160;
  std::vector<Identical::Steps> head;  ///< earliest start
  std::vector<Identical::Steps> tail;  ///< least time from its start to the end of all
  Identical::Steps bound = 0;
};
Windows windows_of(const Identical& identical);

/// Forward-backward improvement (Tormos, Lova 2001; Valls et al. 2005) of list schedules under random changes
/// of the order: a fixed number of rounds by seed, ends early at `bound` or at the time limit.
IdenticalSchedule improve(const Identical& identical, const Windows& windows, std::uint64_t seed,
                          std::int64_t rounds, double seconds_limit);

}  // namespace espalier
