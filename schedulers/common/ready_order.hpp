#pragma once

#include <queue>
#include <vector>

#include "schedulers/common/instance.hpp"

namespace espalier {

/// Ready tasks by falling key, ties by id: a task comes only after all its predecessors. `visit(task)` is
/// called in that order. O(n log n + e).
template <class Visit>
void in_ready_order(const Instance& instance, const std::vector<double>& key, Visit visit) {
  const auto later = [&key](TaskId a, TaskId b) { return key[a] != key[b] ? key[a] < key[b] : a > b; };
  std::priority_queue<TaskId, std::vector<TaskId>, decltype(later)> ready(later);
  std::vector<std::uint32_t> missing(instance.tasks());
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    missing[t] = static_cast<std::uint32_t>(instance.inputs(t).size());
    if (missing[t] == 0) ready.push(t);
  }
  while (!ready.empty()) {
    const TaskId t = ready.top();
    ready.pop();
    visit(t);
    for (const Instance::Edge& e : instance.outputs(t))
      if (--missing[e.task] == 0) ready.push(e.task);
  }
}

}  // namespace espalier
