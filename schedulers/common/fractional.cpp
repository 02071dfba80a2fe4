#include "schedulers/common/fractional.hpp"

namespace espalier {

FractionalAllocation::FractionalAllocation(const Instance& instance)
    : instance_(instance),
      kinds_(instance.kinds()),
      tasks_of_(instance.problem().graph.classes.size(), 0),
      workers_of_(kinds_, 0),
      share_(tasks_of_.size() * kinds_, -1),
      load_(kinds_) {
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    tasks_of_[instance.class_of(t)] += 1;
    unit_ += instance.least_seconds(t);
  }
  for (WorkerId w = 0; w < instance.workers(); ++w) workers_of_[instance.kind_of(w)] += 1;
  program_.add_column(1, 0, 1);
  for (CostClass c = 0; c < tasks_of_.size(); ++c)
    for (KindId k = 0; k < kinds_; ++k)
      if (tasks_of_[c] > 0 && workers_of_[k] > 0 && instance.problem().costs.can_run(c, k))
        share_[c * kinds_ + k] = program_.add_column(0, 0, 1);
}

double FractionalAllocation::scaled(CostClass c, KindId k) const {
  return instance_.problem().costs.seconds(c, k) / unit_;
}

void FractionalAllocation::close() {
  std::vector<LinearProgram::Term> all;
  for (CostClass c = 0; c < tasks_of_.size(); ++c) {
    all.clear();
    for (KindId k = 0; k < kinds_; ++k)
      if (const int share = share_column(c, k); share >= 0) {
        all.push_back({share, 1});
        if (tasks_of_[c] > 0) load_[k].push_back({share, -tasks_of_[c] * scaled(c, k)});
      }
    if (!all.empty()) program_.add_row_at_least(1, all);
  }
  for (KindId k = 0; k < kinds_; ++k) {
    if (load_[k].empty()) continue;
    load_[k].push_back({makespan_column(), workers_of_[k]});
    program_.add_row_at_least(0, load_[k]);
  }
}

}  // namespace espalier
