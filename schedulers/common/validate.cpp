#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "schedulers/common/bounds.hpp"
#include "schedulers/common/instance.hpp"
#include "schedulers/common/ranks.hpp"

namespace espalier {
namespace {

/// Rounding that sums of seconds may carry.
constexpr double kRelativeSlack = 1e-7;

class Validator {
 public:
  Validator(const Plan& plan, const SchedulingProblem& problem)
      : plan_(plan), problem_(problem), instance_(problem) {}

  void run() {
    check_origin();
    check_placements();
    slack_ = kRelativeSlack * std::max(latest_finish(plan_), plan_.makespan);
    check_workers();
    check_precedence();
    check_makespan();
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("plan of {} is not valid: {}", plan_.scheduler, why));
  }
  std::string name(TaskId t) const { return fmt::format("{} ({})", problem_.graph.task_name(t), t); }
  const std::string& worker_name(WorkerId w) const { return problem_.platform.workers[w].name; }

  void check_origin() const {
    if (plan_.placements.size() != instance_.tasks())
      refuse(fmt::format("it places {} tasks, graph {} has {}", plan_.placements.size(), problem_.graph.name,
                         instance_.tasks()));
    if (plan_.graph_fingerprint != problem_.graph.fingerprint())
      refuse(fmt::format("it was made for another graph than {} (fingerprint {:016x}, not {:016x})",
                         problem_.graph.name, plan_.graph_fingerprint, problem_.graph.fingerprint()));
    if (plan_.platform_fingerprint != problem_.platform.fingerprint())
      refuse(fmt::format("it was made for another platform than {} (fingerprint {:016x}, not {:016x})",
                         problem_.platform.name, plan_.platform_fingerprint,
                         problem_.platform.fingerprint()));
  }

  void check_placements() const {
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const Placement& p = plan_.placements[t];
      if (p.worker == kNoWorker) refuse(fmt::format("task {} is not placed", name(t)));
      if (p.worker >= instance_.workers())
        refuse(fmt::format("task {} is on worker {}, the platform has {}", name(t), p.worker,
                           instance_.workers()));
      if (!(p.start >= 0) || !(p.finish >= p.start) || p.finish == Instance::infinity())
        refuse(fmt::format("task {} runs from {} to {}", name(t), p.start, p.finish));
      const double seconds = instance_.seconds_of_kind(t, instance_.kind_of(p.worker));
      if (seconds == Instance::infinity())
        refuse(fmt::format("task {} cannot run on worker {}: no cost for {} on {}", name(t),
                           worker_name(p.worker), problem_.graph.class_of(t).codelet,
                           problem_.platform.kind_of(p.worker).name));
      if (instance_.seconds(t, p.worker) == Instance::infinity())
        refuse(fmt::format("the data of task {} do not fit into memory {} of worker {}", name(t),
                           problem_.platform.memories[instance_.memory_of(p.worker)].name,
                           worker_name(p.worker)));
      const double slack = kRelativeSlack * std::max(p.finish, seconds);
      if (p.finish - p.start < seconds - slack)
        refuse(fmt::format("task {} has {} seconds on worker {} but takes {}", name(t), p.finish - p.start,
                           worker_name(p.worker), seconds));
    }
  }

  /// Positions 0, 1, ... without gap, and each task after the one before.
  void check_workers() const {
    std::vector<std::vector<TaskId>> order(instance_.workers());
    for (TaskId t = 0; t < instance_.tasks(); ++t) order[plan_.placements[t].worker].push_back(t);
    for (WorkerId w = 0; w < order.size(); ++w) {
      std::sort(order[w].begin(), order[w].end(), [&](TaskId a, TaskId b) {
        return plan_.placements[a].position < plan_.placements[b].position;
      });
      for (std::uint32_t i = 0; i < order[w].size(); ++i) {
        const Placement& p = plan_.placements[order[w][i]];
        if (p.position != i)
          refuse(fmt::format("worker {}: position {} is missing or taken twice (task {})", worker_name(w), i,
                             name(order[w][i])));
        if (i > 0 && plan_.placements[order[w][i - 1]].finish > p.start + slack_)
          refuse(fmt::format("worker {}: task {} starts at {} before {} ends at {}", worker_name(w),
                             name(order[w][i]), p.start, name(order[w][i - 1]),
                             plan_.placements[order[w][i - 1]].finish));
      }
    }
  }

  /// The least time that data take from one memory to another, over one intermediate stop at most.
  double least_transfer(std::int64_t bytes, MemoryId from, MemoryId to) const {
    double least = instance_.transfer(bytes, from, to);
    for (MemoryId stop = 0; stop < instance_.memories(); ++stop)
      if (problem_.platform.has_route(from, stop) && problem_.platform.has_route(stop, to))
        least = std::min(least, instance_.transfer(bytes, from, stop) + instance_.transfer(bytes, stop, to));
    return least;
  }

  void check_precedence() const {
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const Placement& p = plan_.placements[t];
      const MemoryId to = instance_.memory_of(p.worker);
      for (const auto& [u, bytes] : instance_.inputs(t)) {
        const Placement& q = plan_.placements[u];
        const MemoryId from = instance_.memory_of(q.worker);
        if (q.finish + instance_.transfer(bytes, from, to) <= p.start + slack_) continue;
        const double transfer = least_transfer(bytes, from, to);
        if (q.finish + transfer > p.start + slack_)
          refuse(fmt::format("task {} starts at {} before its predecessor {} ends at {}{}", name(t), p.start,
                             name(u), q.finish,
                             transfer > 0 ? fmt::format(" and its data arrive {} later", transfer) : ""));
      }
    }
  }

  void check_makespan() const {
    const double last = latest_finish(plan_);
    if (plan_.makespan < last - slack_)
      refuse(fmt::format("its makespan is {} but a task ends at {}", plan_.makespan, last));
    const double bound = std::max(critical_path_bound(problem_), area_bound(problem_));
    if (last < bound - slack_)
      refuse(fmt::format("its makespan {} is below the lower bound {}", last, bound));
  }

  const Plan& plan_;
  const SchedulingProblem& problem_;
  const Instance instance_;
  double slack_ = 0;
};

}  // namespace

void validate(const Plan& plan, const SchedulingProblem& problem) {
  Validator(plan, problem).run();
}

}  // namespace espalier
