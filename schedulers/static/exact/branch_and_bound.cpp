#include <algorithm>
#include <numeric>

#include "schedulers/common/deadline.hpp"
#include "schedulers/static/exact/search_problem.hpp"
#include "schedulers/static/exact/state_memo.hpp"

namespace espalier {
namespace {

using Steps = SearchProblem::Steps;
constexpr Steps kNever = SearchProblem::kNever;
constexpr std::size_t kMemoBytes = std::size_t{1} << 28;

class Search {
 public:
  Search(const SearchProblem& problem, Steps incumbent, const SearchLimits& limits)
      : p_(problem),
        limits_(limits),
        stop_(limits.seconds),
        memo_(kMemoBytes),
        deadline_(incumbent - 1),
        worker_(problem.tasks, -1),
        finish_(problem.tasks, 0),
        missing_(problem.tasks),
        free_(problem.workers, 0),
        load_(problem.workers, 0),
        canon_(problem.workers),
        levels_(problem.tasks + 1) {
    for (int t = 0; t < p_.tasks; ++t) {
      missing_[t] = static_cast<int>(p_.before[t].size());
      remaining_ += p_.least[t];
    }
    by_tail_.resize(p_.tasks);
    std::iota(by_tail_.begin(), by_tail_.end(), 0);
    by_latest_end_ = by_tail_;
    std::stable_sort(by_tail_.begin(), by_tail_.end(), [&](int a, int b) { return p_.tail[a] > p_.tail[b]; });
    std::stable_sort(by_latest_end_.begin(), by_latest_end_.end(),
                     [&](int a, int b) { return p_.tail[a] - p_.least[a] > p_.tail[b] - p_.least[b]; });
    for (Level& level : levels_) level.start.assign(static_cast<std::size_t>(p_.tasks) * p_.workers, 0);
  }

  SearchResult run() {
    result_.complete = true;
    if (deadline_ >= p_.bound) visit(0);
    result_.nodes = nodes_;
    return std::move(result_);
  }

 private:
  struct Choice {
    Steps start, rank;
    int task, worker;
  };
  struct Level {
    std::vector<Steps> start;  ///< task x worker: earliest start given what is scheduled; kNever: too late
    std::vector<Choice> choices;
  };

  bool out_of_time() {
    if (++nodes_ >= limits_.nodes) return true;
    return nodes_ % 512 == 0 && stop_.passed();
  }

  /// False: stop the whole search.
  bool visit(int depth) {
    if (depth == p_.tasks) {
      record();
      return true;
    }
    if (out_of_time()) {
      result_.complete = false;
      return false;
    }
    Level& level = levels_[depth];
    if (!propagate(level) || !capacity_suffices() || known(depth)) return true;
    collect(level);
    for (const Choice& c : level.choices) {
      if (c.start + p_.duration_on(c.task, c.worker) > deadline_) continue;
      const Steps last = last_start_, free = free_[c.worker];
      const int last_task = last_task_;
      schedule(c);
      const bool go_on = visit(depth + 1);
      withdraw(c, free);
      last_start_ = last;
      last_task_ = last_task;
      if (!go_on) return false;
      if (deadline_ < p_.bound) return false;  // the bound is met; complete stays true
    }
    return true;
  }

  void schedule(const Choice& c) {
    worker_[c.task] = c.worker;
    finish_[c.task] = c.start + p_.duration_on(c.task, c.worker);
    free_[c.worker] = finish_[c.task];
    load_[c.worker] += 1;
    last_start_ = c.start;
    last_task_ = c.task;
    sum_ += c.start;
    remaining_ -= p_.least[c.task];
    set_[c.task / 64] |= std::uint64_t{1} << (c.task % 64);
    order_.push_back(c.task);
    for (const auto& e : p_.after[c.task]) --missing_[e.task];
  }

  void withdraw(const Choice& c, Steps free) {
    for (const auto& e : p_.after[c.task]) ++missing_[e.task];
    order_.pop_back();
    set_[c.task / 64] &= ~(std::uint64_t{1} << (c.task % 64));
    remaining_ += p_.least[c.task];
    sum_ -= c.start;
    load_[c.worker] -= 1;
    free_[c.worker] = free;
    worker_[c.task] = -1;
  }

  void record() {
    Steps makespan = 0;
    for (int t = 0; t < p_.tasks; ++t) makespan = std::max(makespan, finish_[t]);
    result_.makespan = makespan;
    result_.worker = worker_;
    result_.order = order_;
    deadline_ = makespan - 1;
  }

  /// Earliest starts by worker of all tasks that are left, along the edges; a worker on which a task would
  /// end the graph too late is out. False when a task has no worker left.
  bool propagate(Level& level) {
    const int m = p_.workers;
    for (int t = 0; t < p_.tasks; ++t) {
      if (worker_[t] >= 0) continue;
      Steps* row = level.start.data() + static_cast<std::size_t>(t) * m;
      for (int w = 0; w < m; ++w)
        row[w] = std::max({free_[w], last_start_, p_.release[t * m + w], p_.head[t]});
      for (const auto& e : p_.before[t]) arrive(level, e, row);
      bool possible = false;
      const Steps latest = deadline_ - p_.tail[t];
      for (int w = 0; w < m; ++w) {
        const Steps duration = p_.duration_on(t, w);
        if (duration == kNever || row[w] + duration - p_.least[t] > latest)
          row[w] = kNever;
        else
          possible = true;
      }
      if (!possible) return false;
    }
    return true;
  }

  /// Raises the starts of a row by what an edge brings.
  void arrive(const Level& level, const SearchProblem::Edge& e, Steps* row) const {
    const int m = p_.workers, u = e.task;
    if (worker_[u] >= 0) {
      for (int w = 0; w < m; ++w) row[w] = std::max(row[w], finish_[u] + p_.transfer(e, worker_[u], w));
      return;
    }
    const Steps* from = level.start.data() + static_cast<std::size_t>(u) * m;
    if (p_.uniform || e.row < 0) {
      Steps first = kNever, second = kNever;
      int best = -1;
      for (int w = 0; w < m; ++w) {
        if (from[w] == kNever) continue;
        const Steps end = from[w] + p_.duration_on(u, w);
        if (end < first) {
          second = first;
          first = end;
          best = w;
        } else {
          second = std::min(second, end);
        }
      }
      if (e.row < 0) {
        for (int w = 0; w < m; ++w) row[w] = std::max(row[w], first);
        return;
      }
      for (int w = 0; w < m; ++w) {
        const Steps here = from[w] == kNever ? kNever : from[w] + p_.duration_on(u, w);
        const Steps there = (w == best ? second : first) + e.remote;
        row[w] = std::max(row[w], std::min(here, there));
      }
      return;
    }
    for (int w = 0; w < m; ++w) {
      Steps soonest = kNever;
      for (int v = 0; v < m; ++v)
        if (from[v] != kNever)
          soonest = std::min(soonest, from[v] + p_.duration_on(u, v) + p_.transfer(e, v, w));
      row[w] = std::max(row[w], soonest);
    }
  }

  /// Work that must be done before each latest end against what the workers have left until then.
  bool capacity_suffices() const {
    Steps room = 0;
    for (const Steps f : free_) room += deadline_ - std::max(f, last_start_);
    if (remaining_ > room) return false;
    for (const int x : by_latest_end_) {
      if (worker_[x] >= 0) continue;
      const Steps at = deadline_ - p_.tail[x] + p_.least[x];
      Steps have = 0, need = 0;
      for (const Steps f : free_) have += std::max<Steps>(0, at - std::max(f, last_start_));
      for (const int t : by_tail_) {
        const Steps latest = deadline_ - p_.tail[t];
        if (latest >= at) break;
        if (worker_[t] < 0) need += std::min(p_.least[t], at - latest);
      }
      if (need > have) return false;
    }
    return true;
  }

  /// Ready tasks with their workers: only starts in order of time, equal ones in order of number; of workers
  /// that cannot be told apart only the first; twins in order.
  void collect(Level& level) {
    level.choices.clear();
    const int m = p_.workers;
    for (int t = 0; t < p_.tasks; ++t) {
      if (worker_[t] >= 0 || missing_[t] > 0) continue;
      if (p_.twin[t] >= 0 && worker_[p_.twin[t]] < 0) continue;
      const Steps* row = level.start.data() + static_cast<std::size_t>(t) * m;
      for (int w = 0; w < m; ++w) {
        if (row[w] == kNever || (load_[w] == 0 && has_equal_before(w))) continue;
        const Steps start = natural_start(t, w);
        if (start < last_start_ || (start == last_start_ && t < last_task_)) continue;
        if (start > others_latest(t)) continue;
        level.choices.push_back({start, -p_.tail[t], t, w});
      }
    }
    std::sort(level.choices.begin(), level.choices.end(), [](const Choice& a, const Choice& b) {
      if (a.start != b.start) return a.start < b.start;
      if (a.rank != b.rank) return a.rank < b.rank;
      return a.task != b.task ? a.task < b.task : a.worker < b.worker;
    });
  }

  bool has_equal_before(int w) const {
    for (int v = 0; v < w; ++v)
      if (load_[v] == 0 && p_.symmetry[v] == p_.symmetry[w]) return true;
    return false;
  }

  Steps natural_start(int t, int w) const {
    Steps start = std::max(free_[w], p_.release[t * p_.workers + w]);
    for (const auto& e : p_.before[t])
      start = std::max(start, finish_[e.task] + p_.transfer(e, worker_[e.task], w));
    return start;
  }

  /// All other tasks start no earlier than the next one.
  Steps others_latest(int t) const {
    for (const int u : by_tail_)
      if (u != t && worker_[u] < 0) return deadline_ - p_.tail[u];
    return kNever;
  }

  /// Whether a state at least as good was seen: same tasks scheduled, the same places of those whose data are
  /// still on the way.
  bool known(int depth) {
    if (depth < 2) return false;
    const int m = p_.workers;
    relevant_.clear();
    for (const int t : order_) {
      Steps last_arrival = -1;
      for (const auto& e : p_.after[t])
        if (worker_[e.task] < 0) last_arrival = std::max(last_arrival, finish_[t] + most_transfer(e, t));
      if (last_arrival > last_start_) relevant_.push_back(t);
    }
    std::sort(relevant_.begin(), relevant_.end());
    // workers in canonical order: inside each class of interchangeable ones by their first relevant task,
    // then those without one by the time at which they are free
    first_relevant_.assign(m, p_.tasks);
    for (const int t : relevant_) first_relevant_[worker_[t]] = std::min(first_relevant_[worker_[t]], t);
    std::iota(canon_.begin(), canon_.end(), 0);
    std::sort(canon_.begin(), canon_.end(), [&](int a, int b) {
      if (p_.symmetry[a] != p_.symmetry[b]) return p_.symmetry[a] < p_.symmetry[b];
      if (first_relevant_[a] != first_relevant_[b]) return first_relevant_[a] < first_relevant_[b];
      return std::max(free_[a], last_start_) < std::max(free_[b], last_start_);
    });
    place_.assign(m, 0);
    for (int i = 0; i < m; ++i) place_[canon_[i]] = i;
    StateMemo::Key key{set_, 0xcbf29ce484222325ULL};
    times_.clear();
    times_.push_back(last_start_ * p_.tasks + last_task_);
    times_.push_back(sum_);
    for (int i = 0; i < m; ++i) times_.push_back(std::max(free_[canon_[i]], last_start_));
    for (const int t : relevant_) {
      key.places = (key.places ^ static_cast<std::uint64_t>(t * 64 + place_[worker_[t]])) * 0x100000001b3ULL;
      key.places ^= key.places >> 31;
      times_.push_back(finish_[t]);
    }
    return memo_.superfluous(key, times_);
  }

  Steps most_transfer(const SearchProblem::Edge& e, int from) const {
    if (p_.uniform || e.row < 0) return e.remote;
    Steps most = 0;
    for (int w = 0; w < p_.workers; ++w) most = std::max(most, p_.transfer(e, worker_[from], w));
    return most;
  }

  const SearchProblem& p_;
  const SearchLimits limits_;
  const Deadline stop_;
  StateMemo memo_;
  Steps deadline_;
  std::int64_t nodes_ = 0;
  SearchResult result_;

  std::vector<int> worker_;
  std::vector<Steps> finish_;
  std::vector<int> missing_;
  std::vector<Steps> free_;
  std::vector<int> load_;
  std::vector<int> order_;
  Steps last_start_ = 0, remaining_ = 0, sum_ = 0;
  int last_task_ = -1;
  std::array<std::uint64_t, 2> set_{};
  std::vector<int> by_tail_, by_latest_end_;

  std::vector<int> relevant_, first_relevant_, canon_, place_;
  std::vector<Steps> times_;
  std::vector<Level> levels_;
};

}  // namespace

SearchResult branch_and_bound(const SearchProblem& problem, SearchProblem::Steps incumbent,
                              const SearchLimits& limits) {
  return Search(problem, incumbent, limits).run();
}

}  // namespace espalier
