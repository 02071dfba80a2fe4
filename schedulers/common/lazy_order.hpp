#pragma once

#include <queue>
#include <tuple>
#include <vector>

#include "schedulers/common/ready_pool.hpp"

namespace espalier {

/// Places all tasks of a pool, always the one of least key: `key(slot)` of its best slot, which never falls,
/// then `tie` (less first), then the id. A key found stale is put back, so each is looked at about once.
template <class Key>
void place_by_least_key(ReadyPool& pool, const std::vector<double>& tie, Key key) {
  using Entry = std::tuple<double, double, TaskId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<TaskId> fresh = pool.ready();
  for (;;) {
    for (const TaskId t : fresh) queue.emplace(key(pool.best(t)), tie[t], t);
    fresh.clear();
    if (queue.empty()) return;
    const auto [known, level, t] = queue.top();
    queue.pop();
    const PartialSchedule::Slot slot = pool.best(t);
    const double now = key(slot);
    if (now > known && !queue.empty() && Entry{now, level, t} > queue.top())
      queue.emplace(now, level, t);
    else
      pool.place(t, slot, fresh);
  }
}

}  // namespace espalier
