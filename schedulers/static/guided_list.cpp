#include "schedulers/static/guided_list.hpp"

#include <algorithm>
#include <map>

#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {

GuidedList::GuidedList(const Instance& instance)
    : instance_(&instance), links_(instance), rank_(instance.tasks()), after_(static_levels(instance)) {
  const TaskGraph& graph = instance.problem().graph;
  std::map<std::string, std::uint32_t> known;
  for (const CostClassInfo& c : graph.classes)
    kernel_of_class_.push_back(
        known.try_emplace(c.codelet, static_cast<std::uint32_t>(known.size())).first->second);
  kernels_ = known.size();
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    longest_ = std::max(longest_, after_[t]);
    after_[t] -= instance.least_seconds(t);
    const std::int32_t batch = graph.task(t).micro_batch;
    if (batch >= 0) micro_batches_ = std::max(micro_batches_, static_cast<std::size_t>(batch) + 1);
  }
}

Guide GuidedList::neutral() const {
  Guide guide;
  guide.weight.assign(kernels_ * places().size(), 1);
  guide.rank_weight.assign(kernels_, 1);
  guide.batch_lead.assign(micro_batches_, 0);
  guide.place.assign(instance_->tasks(), kAnyPlace);
  return guide;
}

/// Bottom levels: mean times where a task is free, else its place's; transfers on average where one end is
/// free, none between tasks that must share a memory.
void GuidedList::rank(const Guide& guide) {
  const TaskGraph& graph = instance_->problem().graph;
  for (auto t = static_cast<TaskId>(instance_->tasks()); t-- > 0;) {
    double longest = 0;
    const PlaceId here = guide.place[t];
    for (const auto& [s, bytes] : instance_->outputs(t)) {
      const PlaceId there = guide.place[s];
      double transfer = 0;
      if (here == kAnyPlace || there == kAnyPlace)
        transfer = instance_->mean_transfer(bytes);
      else
        transfer = instance_->transfer(bytes, places()[here].memory, places()[there].memory);
      longest = std::max(longest, guide.transfer_weight * transfer + rank_[s]);
    }
    const double time =
        here == kAnyPlace ? instance_->mean_seconds(t) : instance_->seconds(t, places()[here].workers[0]);
    rank_[t] = longest + guide.rank_weight[kernel_of(t)] * time;
  }
  for (TaskId t = 0; t < instance_->tasks(); ++t)
    if (const std::int32_t batch = graph.task(t).micro_batch; batch >= 0)
      rank_[t] += guide.batch_lead[static_cast<std::size_t>(batch)] * longest_;
}

double GuidedList::evaluate(const Guide& guide, double limit) {
  rank(guide);
  links_.clear();
  double makespan = 0;
  in_ready_order(*instance_, rank_, [&](TaskId t) {
    if (makespan == Instance::infinity()) return;
    const std::span<const double> weight(guide.weight.data() + kernel_of(t) * places().size(),
                                         places().size());
    if (!links_.place(t, guide.place[t], weight, guide.fetch_weight) &&
        !links_.place(t, kAnyPlace, weight, guide.fetch_weight)) {
      makespan = Instance::infinity();
      return;
    }
    const double finish = links_.slots()[t].finish;
    makespan = finish + after_[t] > limit ? Instance::infinity() : std::max(makespan, finish);
  });
  return makespan;
}

Plan GuidedList::plan(const Guide& guide, std::string_view scheduler) const {
  Plan plan = make_plan(*instance_, links_.slots(), scheduler);
  if (guide.planned_transfers) {
    plan.transfers = links_.transfers();
    std::stable_sort(plan.transfers.begin(), plan.transfers.end(),
                     [](const PlannedTransfer& a, const PlannedTransfer& b) { return a.start < b.start; });
  }
  return plan;
}

}  // namespace espalier
