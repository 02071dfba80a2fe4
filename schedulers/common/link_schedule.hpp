#pragma once

#include <span>
#include <vector>

#include "schedulers/common/partial_schedule.hpp"

namespace espalier {

/// Workers of one kind that share a memory: a task has the same time and the same data on each of them.
struct Place {
  KindId kind = 0;
  MemoryId memory = 0;
  std::vector<WorkerId> workers;
};
std::vector<Place> places_of(const Instance& instance);
using PlaceId = std::int16_t;
constexpr PlaceId kAnyPlace = -1;

/// A list schedule in which transfers take turns on the links: a copy leaves the memory from which it would
/// arrive first, in the earliest time at which all links of its route are free, and stays for later readers.
/// Closer to the engine than Instance's transfers, which do not disturb one another; not the same, as the
/// engine shares links. Data that nobody has written start at home at time 0.
///
/// Tasks are placed one by one in a topological order, each into the earliest gap of its worker.
class LinkSchedule {
 public:
  explicit LinkSchedule(const Instance& instance);

  void clear();
  /// Places a task on the place of least score: end + (weight - 1) x its time there + fetch_weight x seconds
  /// of its transfers, weight by place; or on `only`. Ties to the first. False when it cannot run there.
  bool place(TaskId t, PlaceId only, std::span<const double> weight, double fetch_weight);

  const std::vector<Place>& places() const { return places_; }
  PlaceId place_of(WorkerId w) const { return place_of_[w]; }
  const std::vector<PartialSchedule::Slot>& slots() const { return slots_; }
  /// Transfers in the order in which they were placed.
  const std::vector<PlannedTransfer>& transfers() const { return transfers_; }

 private:
  struct Path {
    std::vector<LinkId> links;  ///< shared ones
    double latency = 0, seconds_per_byte = 0;
  };
  struct Fetch {
    double arrival = 0, seconds = 0;
  };
  static constexpr double kAbsent = std::numeric_limits<double>::infinity();

  double& copy(DataId d, MemoryId m) { return copies_[d * memories_ + m]; }
  MemoryId source(DataId d, MemoryId to);
  double leave(const Path& path, double ready, double seconds) const;
  Fetch look(TaskId t, MemoryId m);
  double fetch(TaskId t, MemoryId m);
  const Path& path(MemoryId from, MemoryId to) const { return paths_[from * memories_ + to]; }

  const Instance* instance_;
  const TaskGraph& graph_;
  std::size_t memories_;
  std::vector<Place> places_;
  std::vector<PlaceId> place_of_;
  std::vector<Path> paths_;
  std::vector<double> start_copies_, copies_;  ///< datum x memory: when its content is there
  std::vector<Timeline> links_, workers_;
  std::vector<PartialSchedule::Slot> slots_;
  std::vector<TaskId> writer_;
  std::vector<PlannedTransfer> transfers_;
};

}  // namespace espalier
