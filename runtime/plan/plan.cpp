#include "runtime/plan/plan.hpp"

#include "graphs/base/error.hpp"

namespace espalier {

std::vector<std::vector<TaskId>> Plan::by_worker(std::size_t workers) const {
  std::vector<std::vector<TaskId>> order(workers);
  for (const Placement& p : placements) {
    if (p.worker >= workers) throw InternalError("a plan names a worker that the platform does not have");
    if (order[p.worker].size() <= p.position) order[p.worker].resize(p.position + 1, kNoTask);
  }
  for (TaskId t = 0; t < placements.size(); ++t) order[placements[t].worker][placements[t].position] = t;
  for (const auto& tasks : order)
    for (const TaskId t : tasks)
      if (t == kNoTask) throw InternalError("a plan leaves a position on a worker empty");
  return order;
}

}  // namespace espalier
