#include "schedulers/static/cpop_topcuoglu2002.hpp"

#include <algorithm>

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {
namespace {

/// From the entry task of greatest priority on, always the successor of greatest priority: in exact
/// arithmetic the one whose priority equals the entry's, section 4.2.
std::vector<TaskId> critical_path(const Instance& instance, const std::vector<double>& priority) {
  TaskId t = kNoTask;
  for (TaskId entry = 0; entry < instance.tasks(); ++entry)
    if (instance.inputs(entry).empty() && (t == kNoTask || priority[entry] > priority[t])) t = entry;
  std::vector<TaskId> path;
  while (t != kNoTask) {
    path.push_back(t);
    TaskId next = kNoTask;
    for (const auto& edge : instance.outputs(t))
      if (next == kNoTask || priority[edge.task] > priority[next]) next = edge.task;
    t = next;
  }
  return path;
}

/// The worker that runs the whole path fastest; kNoWorker when none can run all of it.
WorkerId critical_worker(const Instance& instance, const std::vector<TaskId>& path) {
  WorkerId best = kNoWorker;
  double least = Instance::infinity();
  for (WorkerId w = 0; w < instance.workers(); ++w) {
    double sum = 0;
    for (const TaskId t : path) sum += instance.seconds(t, w);
    if (sum < least) {
      least = sum;
      best = w;
    }
  }
  return best;
}

class Cpop final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    std::vector<double> priority = upward_ranks(instance);
    const std::vector<double> down = downward_ranks(instance);
    for (TaskId t = 0; t < instance.tasks(); ++t) priority[t] += down[t];
    const std::vector<TaskId> path = critical_path(instance, priority);
    const WorkerId worker = critical_worker(instance, path);
    std::vector<char> critical(instance.tasks(), 0);
    if (worker != kNoWorker)
      for (const TaskId t : path) critical[t] = 1;
    PartialSchedule partial(instance);
    in_ready_order(instance, priority, [&](TaskId t) {
      if (critical[t] == 0) return partial.place(t, partial.earliest_finish(t));
      partial.arrivals(t);
      partial.place(t, partial.earliest(t, worker));
    });
    return partial.plan("cpop_topcuoglu2002");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_cpop_topcuoglu2002() {
  return std::make_unique<Cpop>();
}

}  // namespace espalier
