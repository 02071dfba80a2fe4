#include <algorithm>

#include "schedulers/static/exact/identical.hpp"

namespace espalier {
namespace {

using Steps = Identical::Steps;

/// Tasks that must all end before some point: earliest start, duration, time from the end to that point.
struct Job {
  Steps head, duration, after;
};

/// Least D such that no interval [a, b] of a schedule that reaches the point at D holds more work than p
/// workers do: raised from `from` until that is so.
Steps interval_bound(const std::vector<Job>& jobs, Steps from, int workers) {
  Steps deadline = from;
  std::vector<Steps> begins;
  for (const Job& j : jobs) begins.push_back(j.head);
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  for (bool raised = true; raised;) {
    raised = false;
    for (const Job& end : jobs) {
      for (const Steps a : begins) {
        const Steps b = deadline - end.after;
        if (b <= a) break;
        Steps work = 0;
        for (const Job& j : jobs) {
          const Steps latest = deadline - j.after - j.duration;  // its latest start
          const Steps inside =
              std::min(std::min(j.duration, b - a), std::min(j.head + j.duration - a, b - latest));
          if (inside > 0) work += inside;
        }
        const Steps excess = work - workers * (b - a);
        if (excess > 0) {
          deadline += (excess + workers - 1) / workers;
          raised = true;
        }
      }
    }
  }
  return deadline;
}

/// Longest way from the end of each task to the start of each later one; -1: none.
std::vector<std::vector<Steps>> distances(const Identical& identical) {
  const int n = identical.size();
  std::vector<std::vector<Steps>> way(n, std::vector<Steps>(n, -1));
  for (int i = n; i-- > 0;)
    for (const int j : identical.after[i]) {
      way[i][j] = std::max<Steps>(way[i][j], 0);
      for (int k = j + 1; k < n; ++k)
        if (way[j][k] >= 0) way[i][k] = std::max(way[i][k], identical.duration[j] + way[j][k]);
    }
  return way;
}

/// Heads by the interval bound over each task's ancestors.
std::vector<Steps> strong_heads(const Identical& identical, const std::vector<std::vector<Steps>>& way) {
  const int n = identical.size();
  std::vector<Steps> head(n, 0);
  std::vector<Job> jobs;
  for (int j = 0; j < n; ++j) {
    jobs.clear();
    for (int i = 0; i < j; ++i)
      if (way[i][j] >= 0) {
        jobs.push_back({head[i], identical.duration[i], way[i][j]});
        head[j] = std::max(head[j], head[i] + identical.duration[i] + way[i][j]);
      }
    if (static_cast<int>(jobs.size()) > identical.workers)
      head[j] = interval_bound(jobs, head[j], identical.workers);
  }
  return head;
}

std::vector<Steps> path_heads(const Identical& identical) {
  std::vector<Steps> head(identical.size(), 0);
  for (int j = 0; j < identical.size(); ++j)
    for (const int i : identical.before[j]) head[j] = std::max(head[j], head[i] + identical.duration[i]);
  return head;
}

}  // namespace

Windows windows_of(const Identical& identical) {
  const int n = identical.size();
  const Identical backwards = identical.reversed();
  const bool strong = n <= Windows::kStrongLimit;
  Windows windows;
  windows.head = strong ? strong_heads(identical, distances(identical)) : path_heads(identical);
  const std::vector<Steps> behind =
      strong ? strong_heads(backwards, distances(backwards)) : path_heads(backwards);
  windows.tail.resize(n);
  Steps total = 0;
  std::vector<Job> jobs;
  for (int j = 0; j < n; ++j) {
    windows.tail[j] = behind[n - 1 - j] + identical.duration[j];
    windows.bound = std::max(windows.bound, windows.head[j] + windows.tail[j]);
    total += identical.duration[j];
    jobs.push_back({windows.head[j], identical.duration[j], behind[n - 1 - j]});
  }
  windows.bound = std::max(windows.bound, (total + identical.workers - 1) / identical.workers);
  if (strong) windows.bound = interval_bound(jobs, windows.bound, identical.workers);
  return windows;
}

}  // namespace espalier
