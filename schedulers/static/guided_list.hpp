#pragma once

#include <vector>

#include "schedulers/common/link_schedule.hpp"

namespace espalier {

/// What guides a list schedule besides the problem itself; searches change it, the list schedule does the
/// rest.
struct Guide {
  std::vector<double> weight;       ///< kernel x place: how dear its time is there, see LinkSchedule
  std::vector<double> rank_weight;  ///< kernel: how much its time counts in the ranks
  std::vector<double> batch_lead;   ///< micro-batch: added to its tasks' ranks, share of the longest path
  std::vector<PlaceId> place;       ///< task: where it must run, kAnyPlace: free
  double fetch_weight = 0;          ///< see LinkSchedule
  double transfer_weight = 1;       ///< of transfers in the ranks
  bool planned_transfers = false;   ///< the plan names the transfers
};

/// List schedules by bottom level, with transfers that take turns on the links, under a guide. Kernels are
/// the codelets of the graph.
class GuidedList {
 public:
  explicit GuidedList(const Instance& instance);

  /// A guide that changes nothing.
  Guide neutral() const;
  /// Makespan of the guide's schedule; infinity as soon as it is certain to exceed `limit`.
  /// O(n log n + a m + n p).
  double evaluate(const Guide& guide, double limit);
  /// The last evaluated schedule.
  Plan plan(const Guide& guide, std::string_view scheduler) const;

  const std::vector<Place>& places() const { return links_.places(); }
  std::size_t kernels() const { return kernels_; }
  std::uint32_t kernel_of(TaskId t) const { return kernel_of_class_[instance_->class_of(t)]; }
  std::size_t micro_batches() const { return micro_batches_; }
  PlaceId place_of(WorkerId w) const { return links_.place_of(w); }
  /// Where the last schedule has a task.
  PlaceId placed(TaskId t) const { return links_.place_of(links_.slots()[t].worker); }

 private:
  void rank(const Guide& guide);

  const Instance* instance_;
  LinkSchedule links_;
  std::vector<std::uint32_t> kernel_of_class_;
  std::size_t kernels_ = 0, micro_batches_ = 0;
  std::vector<double> rank_, after_;
  double longest_ = 0;
};

}  // namespace espalier
