#include <algorithm>
#include <numeric>
#include <random>

#include "schedulers/common/deadline.hpp"
#include "schedulers/static/exact/identical.hpp"

namespace espalier {
namespace {

using Steps = Identical::Steps;

/// List scheduling of one direction of time: tasks in the order of `list`, which is topological, each at its
/// earliest start on the worker that leaves the least idle time.
class Lister {
 public:
  explicit Lister(const Identical& identical) : identical_(identical), free_(identical.workers) {}

  Steps run(const std::vector<int>& list, std::vector<Steps>& finish) {
    std::fill(free_.begin(), free_.end(), 0);
    Steps makespan = 0;
    for (const int t : list) {
      Steps ready = 0;
      for (const int u : identical_.before[t]) ready = std::max(ready, finish[u]);
      std::size_t chosen = 0, first = 0;
      bool idle = false;
      for (std::size_t w = 0; w < free_.size(); ++w) {
        if (free_[w] < free_[first]) first = w;
        if (free_[w] <= ready && (!idle || free_[w] > free_[chosen])) {
          chosen = w;
          idle = true;
        }
      }
      if (!idle) chosen = first;
      finish[t] = std::max(ready, free_[chosen]) + identical_.duration[t];
      free_[chosen] = finish[t];
      makespan = std::max(makespan, finish[t]);
    }
    return makespan;
  }

 private:
  const Identical& identical_;
  std::vector<Steps> free_;
};

class Improver {
 public:
  Improver(const Identical& identical, const Windows& windows, std::uint64_t seed)
      : identical_(identical),
        backwards_(identical.reversed()),
        forward_(identical_),
        backward_(backwards_),
        windows_(windows),
        random_(seed),
        n_(identical.size()) {}

  IdenticalSchedule run(std::int64_t rounds, double seconds_limit) {
    const Deadline stop(seconds_limit);
    std::vector<int> order(n_);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Steps> finish(n_), candidate_finish(n_);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return windows_.tail[a] > windows_.tail[b]; });
    Steps current = settle(order, finish);
    keep(current, finish);
    std::vector<int> trial;
    std::int64_t since = 0;
    for (std::int64_t round = 0; round < rounds && best_.makespan > windows_.bound; ++round) {
      if (round % 64 == 63 && stop.passed()) break;
      trial = order;
      perturb(trial, 1 + static_cast<int>(random_() % 4));
      const Steps makespan = settle(trial, candidate_finish);
      if (makespan <= current || ++since > 200) {
        since = makespan < current ? 0 : since > 200 ? 0 : since;
        current = makespan;
        order.swap(trial);
        keep(makespan, candidate_finish);
      }
    }
    return best_;
  }

 private:
  /// Forward, then backward from the latest finish, then forward, until it does not shrink; leaves the list
  /// of the last forward pass sorted by start.
  Steps settle(std::vector<int>& list, std::vector<Steps>& finish) {
    Steps makespan = forward_.run(list, finish);
    std::vector<Steps>& mirrored = scratch_;
    mirrored.resize(n_);
    for (;;) {
      list_.resize(n_);
      std::iota(list_.begin(), list_.end(), 0);
      std::sort(list_.begin(), list_.end(),
                [&](int a, int b) { return finish[a] != finish[b] ? finish[a] > finish[b] : a > b; });
      for (int& t : list_) t = n_ - 1 - t;
      backward_.run(list_, mirrored);
      std::iota(list.begin(), list.end(), 0);
      // the start in forward time of task t is makespan' - mirrored finish
      std::sort(list.begin(), list.end(), [&](int a, int b) {
        const Steps x = mirrored[n_ - 1 - a], y = mirrored[n_ - 1 - b];
        return x != y ? x > y : a < b;
      });
      const Steps next = forward_.run(list, finish);
      if (next >= makespan) return next;
      makespan = next;
      if (makespan <= windows_.bound) return makespan;
    }
  }

  /// Moves some tasks to random places between their predecessors and successors.
  void perturb(std::vector<int>& list, int moves) {
    position_.resize(n_);
    for (int i = 0; i < n_; ++i) position_[list[i]] = i;
    for (int move = 0; move < moves; ++move) {
      const int t = static_cast<int>(random_() % n_);
      int low = 0, high = n_ - 1;
      for (const int u : identical_.before[t]) low = std::max(low, position_[u] + 1);
      for (const int s : identical_.after[t]) high = std::min(high, position_[s] - 1);
      if (low >= high) continue;
      const int to = low + static_cast<int>(random_() % (high - low + 1));
      const int from = position_[t];
      if (to < from)
        std::rotate(list.begin() + to, list.begin() + from, list.begin() + from + 1);
      else
        std::rotate(list.begin() + from, list.begin() + from + 1, list.begin() + to + 1);
      for (int i = std::min(from, to); i <= std::max(from, to); ++i) position_[list[i]] = i;
    }
  }

  void keep(Steps makespan, const std::vector<Steps>& finish) {
    if (!best_.start.empty() && makespan >= best_.makespan) return;
    best_.makespan = makespan;
    best_.start.resize(n_);
    for (int t = 0; t < n_; ++t) best_.start[t] = finish[t] - identical_.duration[t];
  }

  const Identical& identical_;
  const Identical backwards_;
  Lister forward_, backward_;
  const Windows& windows_;
  std::mt19937_64 random_;
  int n_;
  IdenticalSchedule best_;
  std::vector<Steps> scratch_;
  std::vector<int> list_, position_;
};

}  // namespace

IdenticalSchedule improve(const Identical& identical, const Windows& windows, std::uint64_t seed,
                          std::int64_t rounds, double seconds_limit) {
  if (identical.size() == 0) return {};
  return Improver(identical, windows, seed).run(rounds, seconds_limit);
}

}  // namespace espalier
