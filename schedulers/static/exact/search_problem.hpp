#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "schedulers/common/instance.hpp"

namespace espalier {

/// A small scheduling problem in whole time steps for exact search: unrelated workers, transfers by pair of
/// workers, all edges in one table.
struct SearchProblem {
  using Steps = std::int64_t;
  static constexpr int kMostTasks = 128;
  static constexpr Steps kNever = std::int64_t{1} << 60;

  struct Edge {
    int task;      ///< the other end
    Steps remote;  ///< least transfer between different memories
    int row;       ///< of `transfers`, -1: order only
  };

  explicit SearchProblem(const Instance& instance);

  int tasks = 0, workers = 0, memories = 0;
  double step = 1;      ///< seconds of one step
  bool uniform = true;  ///< every worker has its own memory and each transfer takes equally long everywhere
  std::vector<int> memory_of;
  std::vector<int> symmetry;    ///< class of interchangeable workers, by worker
  std::vector<Steps> duration;  ///< task x worker, kNever: cannot run
  std::vector<Steps> least;     ///< task: over the workers
  std::vector<Steps> release;   ///< task x worker: data from home are there
  std::vector<std::vector<Edge>> before, after;
  std::vector<Steps> transfers;   ///< row x memory x memory
  std::vector<int> twin;          ///< an equal task of smaller number, -1: none
  std::vector<Steps> head, tail;  ///< earliest start; least time from the start to the end of all
  Steps bound = 0;                ///< lower bound of the makespan from heads, tails and the area

  Steps duration_on(int t, int w) const { return duration[t * workers + w]; }
  Steps transfer(const Edge& e, int from, int to) const {
    if (e.row < 0 || memory_of[from] == memory_of[to]) return 0;
    return transfers[(e.row * memories + memory_of[from]) * memories + memory_of[to]];
  }
  /// Raises heads and tails to those that a solver of a special case knows.
  void strengthen(const std::vector<Steps>& heads, const std::vector<Steps>& tails, Steps lower_bound);

 private:
  void read_transfers(const Instance& instance);
  void find_symmetry();
  void find_twins();
  void compute_windows();
};

/// A schedule found by search.
struct SearchResult {
  std::vector<int> worker;  ///< by task
  std::vector<int> order;   ///< tasks by start
  SearchProblem::Steps makespan = SearchProblem::kNever;
  bool complete = false;  ///< the whole space was searched: `makespan` is optimal
  std::int64_t nodes = 0;
};

struct SearchLimits {
  std::int64_t nodes = std::int64_t{1} << 60;
  double seconds = 1;
};

/// Depth-first branch and bound over schedules in order of start times (each schedule has one such order),
/// for makespans below `incumbent`; schedulers/static/exact/README.md tells the rules. The result's makespan
/// is kNever when there is none or none was found.
SearchResult branch_and_bound(const SearchProblem& problem, SearchProblem::Steps incumbent,
                              const SearchLimits& limits);

}  // namespace espalier
