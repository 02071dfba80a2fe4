#include "schedulers/static/grouped.hpp"

#include <algorithm>
#include <span>

#include "schedulers/common/ranks.hpp"
#include "schedulers/common/sequence.hpp"

namespace espalier {
namespace {

class Grouping {
 public:
  Grouping(const SchedulingProblem& problem, Judge& judge)
      : problem_(problem),
        instance_(problem),
        judge_(judge),
        sequence_(instance_),
        rank_(upward_ranks(instance_)) {}

  void run() {
    for (KindId k = 0; k < instance_.kinds(); ++k) {
      std::vector<WorkerId> workers;
      for (WorkerId w = 0; w < instance_.workers(); ++w)
        if (instance_.kind_of(w) == k) workers.push_back(w);
      for (std::size_t used = 1; used <= workers.size(); used *= 2) {
        const std::span<const WorkerId> group(workers.data(), used);
        by_micro_batch(group);
        if (used > 1 && !problem_.graph.layer_names.empty()) by_layers(group, k);
      }
    }
  }

 private:
  void by_micro_batch(std::span<const WorkerId> group) {
    sequence_.assign(rank_);
    bool any = false;
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const std::int32_t batch = problem_.graph.task(t).micro_batch;
      if (batch < 0 && group.size() > 1) continue;
      any = pin(t, group[static_cast<std::size_t>(std::max(batch, 0)) % group.size()]) || any;
    }
    if (any) judge();
  }

  void by_layers(std::span<const WorkerId> group, KindId k) {
    std::vector<double> work(problem_.graph.layer_names.size() + 1, 0);
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const std::int32_t layer = problem_.graph.task(t).layer;
      const double time = instance_.seconds_of_kind(t, k);
      if (layer >= 0 && time < Instance::infinity()) work[static_cast<std::size_t>(layer) + 1] += time;
    }
    for (std::size_t i = 1; i < work.size(); ++i) work[i] += work[i - 1];
    if (work.back() <= 0) return;
    sequence_.assign(rank_);
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const std::int32_t layer = problem_.graph.task(t).layer;
      if (layer < 0) continue;
      const double middle =
          (work[static_cast<std::size_t>(layer)] + work[static_cast<std::size_t>(layer) + 1]) / 2;
      const auto stage = static_cast<std::size_t>(middle / work.back() * static_cast<double>(group.size()));
      pin(t, group[std::min(stage, group.size() - 1)]);
    }
    judge();
  }

  bool pin(TaskId t, WorkerId w) {
    if (instance_.seconds(t, w) == Instance::infinity()) return false;
    sequence_.pin(t, w);
    return true;
  }

  void judge() {
    if (sequence_.evaluate(0, Instance::infinity()) < Instance::infinity())
      judge_.consider(make_plan(instance_, sequence_.slots(), "best"));
  }

  const SchedulingProblem& problem_;
  const Instance instance_;
  Judge& judge_;
  Sequence sequence_;
  const std::vector<double> rank_;
};

}  // namespace

void consider_grouped(const SchedulingProblem& problem, Judge& judge) {
  if (problem.graph.task_count() > 0) Grouping(problem, judge).run();
}

}  // namespace espalier
