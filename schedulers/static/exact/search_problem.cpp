#include "schedulers/static/exact/search_problem.hpp"

#include <algorithm>
#include <numeric>

#include "schedulers/static/exact/time_grid.hpp"

namespace espalier {
namespace {

using Steps = SearchProblem::Steps;
using Edge = SearchProblem::Edge;

/// Least time, after a task's end, until all that hangs on it is done: each neighbour either runs in the same
/// memory, on one of its `lanes` workers, or its data travel. Those whose way over a transfer is above a
/// threshold must be local; Jackson's rule gives the local sequence's length. The least over all thresholds
/// is a bound.
Steps span_of_neighbours(const std::vector<Edge>& edges, const std::vector<Steps>& length,
                         const std::vector<Steps>& least, Steps lanes) {
  std::vector<std::pair<Steps, int>> remote;  // by falling way over the transfer
  for (const Edge& e : edges) remote.emplace_back(e.remote + length[e.task], e.task);
  std::sort(remote.rbegin(), remote.rend());
  Steps best = SearchProblem::kNever;
  std::vector<int> local;
  for (std::size_t i = 0;; ++i) {
    Steps span = i < remote.size() ? remote[i].first : 0, sum = 0;
    std::sort(local.begin(), local.end(),
              [&](int a, int b) { return length[a] - least[a] > length[b] - least[b]; });
    for (const int t : local) {
      sum += least[t];
      span = std::max({span, length[t], (sum + lanes - 1) / lanes + length[t] - least[t]});
    }
    best = std::min(best, span);
    if (i == remote.size()) return best;
    local.push_back(remote[i].second);
  }
}

bool same_edges(const std::vector<Edge>& a, const std::vector<Edge>& b, const SearchProblem& problem) {
  if (a.size() != b.size()) return false;
  const int square = problem.memories * problem.memories;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].task != b[i].task || (a[i].row < 0) != (b[i].row < 0)) return false;
    if (a[i].row >= 0 && !std::equal(problem.transfers.begin() + a[i].row * square,
                                     problem.transfers.begin() + (a[i].row + 1) * square,
                                     problem.transfers.begin() + b[i].row * square))
      return false;
  }
  return true;
}

}  // namespace

SearchProblem::SearchProblem(const Instance& instance)
    : tasks(static_cast<int>(instance.tasks())),
      workers(static_cast<int>(instance.workers())),
      memories(static_cast<int>(instance.memories())) {
  for (WorkerId w = 0; w < workers; ++w) memory_of.push_back(instance.memory_of(w));
  read_transfers(instance);
  find_symmetry();
  find_twins();
  compute_windows();
}

void SearchProblem::read_transfers(const Instance& instance) {
  std::vector<double> values;
  double total = 0;
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    double longest = 0;
    for (WorkerId w = 0; w < workers; ++w) {
      const double seconds = instance.seconds(t, w);
      if (seconds == Instance::infinity()) continue;
      values.push_back(seconds);
      longest = std::max(longest, seconds);
    }
    total += longest;
    for (const auto& [bytes, home] : instance.home_reads(t))
      for (const int m : memory_of)
        values.push_back(instance.transfer(bytes, home, static_cast<MemoryId>(m)));
    for (const auto& edge : instance.inputs(t))
      for (const int from : memory_of)
        for (const int to : memory_of)
          values.push_back(
              instance.transfer(edge.bytes, static_cast<MemoryId>(from), static_cast<MemoryId>(to)));
  }
  for (const double v : values) total = std::max(total, v);
  const TimeGrid grid(values, total);
  step = grid.seconds(1);
  duration.assign(static_cast<std::size_t>(tasks) * workers, kNever);
  release.assign(duration.size(), 0);
  least.assign(tasks, kNever);
  before.resize(tasks);
  after.resize(tasks);
  std::vector<int> memory_count(memories, 0);
  for (const int m : memory_of) uniform = uniform && ++memory_count[m] == 1;
  int rows = 0;
  for (int t = 0; t < tasks; ++t) {
    const auto task = static_cast<TaskId>(t);
    for (WorkerId w = 0; w < workers; ++w) {
      const double seconds = instance.seconds(task, w);
      if (seconds != Instance::infinity()) duration[t * workers + w] = grid.steps(seconds);
      least[t] = std::min(least[t], duration[t * workers + w]);
      for (const auto& [bytes, home] : instance.home_reads(task))
        release[t * workers + w] = std::max(
            release[t * workers + w], grid.steps(instance.transfer(bytes, home, instance.memory_of(w))));
    }
    for (const auto& [u, bytes] : instance.inputs(task)) {
      Edge edge{static_cast<int>(u), kNever, -1};
      if (bytes > 0 && workers > 1) {
        edge.row = rows++;
        Steps most = 0;
        for (MemoryId from = 0; from < memories; ++from)
          for (MemoryId to = 0; to < memories; ++to)
            transfers.push_back(grid.steps(instance.transfer(bytes, from, to)));
        for (const int from : memory_of)
          for (const int to : memory_of)
            if (from != to) {
              edge.remote = std::min(edge.remote, transfers[(edge.row * memories + from) * memories + to]);
              most = std::max(most, transfers[(edge.row * memories + from) * memories + to]);
            }
        uniform = uniform && most == edge.remote;
      }
      if (edge.remote == kNever) edge.remote = 0;
      before[t].push_back(edge);
      edge.task = t;
      after[u].push_back(edge);
    }
  }
}

/// Two workers are interchangeable when exchanging them changes no time.
void SearchProblem::find_symmetry() {
  symmetry.assign(workers, -1);
  const auto alike = [&](int a, int b) {
    for (int t = 0; t < tasks; ++t)
      if (duration_on(t, a) != duration_on(t, b) || release[t * workers + a] != release[t * workers + b])
        return false;
    const auto swapped = [&](int w) { return w == a ? b : w == b ? a : w; };
    if (memory_of[a] == memory_of[b] || transfers.empty()) return true;
    if (std::count(memory_of.begin(), memory_of.end(), memory_of[a]) > 1 ||
        std::count(memory_of.begin(), memory_of.end(), memory_of[b]) > 1)
      return false;
    const std::size_t square = static_cast<std::size_t>(memories) * memories;
    for (std::size_t row = 0; row < transfers.size(); row += square)
      for (int x = 0; x < workers; ++x)
        for (int y = 0; y < workers; ++y)
          if (transfers[row + memory_of[x] * memories + memory_of[y]] !=
              transfers[row + memory_of[swapped(x)] * memories + memory_of[swapped(y)]])
            return false;
    return true;
  };
  for (int w = 0; w < workers; ++w) {
    for (int v = 0; v < w && symmetry[w] < 0; ++v)
      if (symmetry[v] == v && alike(v, w)) symmetry[w] = v;
    if (symmetry[w] < 0) symmetry[w] = w;
  }
}

void SearchProblem::find_twins() {
  twin.assign(tasks, -1);
  for (int t = 0; t < tasks; ++t)
    for (int u = t; u-- > 0 && twin[t] < 0;)
      if (std::equal(duration.begin() + t * workers, duration.begin() + (t + 1) * workers,
                     duration.begin() + u * workers) &&
          std::equal(release.begin() + t * workers, release.begin() + (t + 1) * workers,
                     release.begin() + u * workers) &&
          same_edges(before[t], before[u], *this) && same_edges(after[t], after[u], *this))
        twin[t] = u;
}

void SearchProblem::compute_windows() {
  std::vector<Steps> done(tasks, 0);  // earliest end
  head.assign(tasks, 0);
  tail.assign(tasks, 0);
  Steps total = 0, lanes = 1;
  for (const int m : memory_of)
    lanes = std::max<Steps>(lanes, std::count(memory_of.begin(), memory_of.end(), m));
  for (int t = 0; t < tasks; ++t) {
    Steps released = kNever;
    for (int w = 0; w < workers; ++w)
      if (duration_on(t, w) != kNever) released = std::min(released, release[t * workers + w]);
    head[t] = std::max(released, span_of_neighbours(before[t], done, least, lanes));
    for (const Edge& e : before[t]) head[t] = std::max(head[t], done[e.task]);
    done[t] = head[t] + least[t];
    total += least[t];
  }
  for (int t = tasks; t-- > 0;) {
    tail[t] = least[t] + span_of_neighbours(after[t], tail, least, lanes);
    bound = std::max(bound, head[t] + tail[t]);
  }
  bound = std::max(bound, (total + workers - 1) / workers);
}

void SearchProblem::strengthen(const std::vector<Steps>& heads, const std::vector<Steps>& tails,
                               Steps lower_bound) {
  for (int t = 0; t < tasks; ++t) {
    head[t] = std::max(head[t], heads[t]);
    tail[t] = std::max(tail[t], tails[t]);
  }
  bound = std::max(bound, lower_bound);
}

}  // namespace espalier
