#include "schedulers/common/link_schedule.hpp"

#include <algorithm>

namespace espalier {

std::vector<Place> places_of(const Instance& instance) {
  std::vector<Place> places;
  for (WorkerId w = 0; w < instance.workers(); ++w) {
    const auto known = std::find_if(places.begin(), places.end(), [&](const Place& p) {
      return p.kind == instance.kind_of(w) && p.memory == instance.memory_of(w);
    });
    if (known != places.end())
      known->workers.push_back(w);
    else
      places.push_back({instance.kind_of(w), instance.memory_of(w), {w}});
  }
  return places;
}

LinkSchedule::LinkSchedule(const Instance& instance)
    : instance_(&instance),
      graph_(instance.problem().graph),
      memories_(instance.memories()),
      places_(places_of(instance)),
      place_of_(instance.workers()),
      paths_(memories_ * memories_) {
  for (std::size_t p = 0; p < places_.size(); ++p)
    for (const WorkerId w : places_[p].workers) place_of_[w] = static_cast<PlaceId>(p);
  const Platform& platform = instance.problem().platform;
  for (MemoryId a = 0; a < memories_; ++a)
    for (MemoryId b = 0; b < memories_; ++b) {
      Path& path = paths_[a * memories_ + b];
      path.seconds_per_byte = a == b ? 0 : kAbsent;
      const auto append = [&](MemoryId from, MemoryId to) {
        for (const LinkId l : platform.route(from, to)) {
          const Link& link = platform.links[l];
          path.latency += link.latency.value;
          path.seconds_per_byte = std::max(path.seconds_per_byte, 1 / link.bandwidth);
          if (link.shared) path.links.push_back(l);
        }
      };
      if (a == b || !(platform.has_route(a, b) || (platform.has_route(a, 0) && platform.has_route(0, b))))
        continue;
      path.seconds_per_byte = 0;
      if (platform.has_route(a, b)) {
        append(a, b);
      } else {
        append(a, 0);
        append(0, b);
      }
      std::sort(path.links.begin(), path.links.end());
      path.links.erase(std::unique(path.links.begin(), path.links.end()), path.links.end());
    }
  start_copies_.assign(graph_.data_count() * memories_, kAbsent);
  std::vector<char> seen(graph_.data_count(), 0);
  for (TaskId t = 0; t < graph_.task_count(); ++t)
    for (const Access& a : graph_.accesses(t)) {
      if (seen[a.data] == 0 && reads(a.mode) && graph_.data(a.data).home < memories_)
        start_copies_[a.data * memories_ + graph_.data(a.data).home] = 0;
      seen[a.data] = 1;
    }
}

void LinkSchedule::clear() {
  copies_ = start_copies_;
  links_.assign(instance_->problem().platform.links.size(), Timeline());
  workers_.assign(instance_->workers(), Timeline());
  slots_.assign(instance_->tasks(), {});
  writer_.assign(graph_.data_count(), kNoTask);
  transfers_.clear();
}

/// From where the datum would be there first if the links were free; itself when it is there or nowhere.
MemoryId LinkSchedule::source(DataId d, MemoryId to) {
  if (copy(d, to) < kAbsent) return to;
  MemoryId best = to;
  double least = kAbsent;
  const auto bytes = static_cast<double>(graph_.data(d).size.value);
  for (MemoryId m = 0; m < memories_; ++m) {
    if (copy(d, m) == kAbsent) continue;
    const double there = copy(d, m) + path(m, to).latency + bytes * path(m, to).seconds_per_byte;
    if (there < least) {
      least = there;
      best = m;
    }
  }
  return best;
}

/// Earliest time from `ready` on at which all links of a path are free for so long.
double LinkSchedule::leave(const Path& path, double ready, double seconds) const {
  double start = ready;
  for (bool moved = true; moved;) {
    moved = false;
    for (const LinkId l : path.links) {
      const double free = links_[l].earliest(start, seconds);
      moved = moved || free > start;
      start = free;
    }
  }
  return start;
}

/// When the inputs would be in a memory, taking turns where they come from the same place, and how long their
/// transfers take together.
LinkSchedule::Fetch LinkSchedule::look(TaskId t, MemoryId m) {
  Fetch sum;
  MemoryId last_source = m;
  double last_left = 0;
  for (const Access& a : graph_.accesses(t)) {
    if (!reads(a.mode)) continue;
    const MemoryId from = source(a.data, m);
    if (from == m) {
      if (copy(a.data, m) < kAbsent) sum.arrival = std::max(sum.arrival, copy(a.data, m));
      continue;
    }
    const Path& way = path(from, m);
    const double seconds = static_cast<double>(graph_.data(a.data).size.value) * way.seconds_per_byte;
    double ready = copy(a.data, from);
    if (from == last_source) ready = std::max(ready, last_left);
    const double start = leave(way, ready, seconds);
    last_source = from;
    last_left = start + seconds;
    sum.arrival = std::max(sum.arrival, start + seconds + way.latency);
    sum.seconds += seconds + way.latency;
  }
  return sum;
}

/// Places the transfers; when all inputs are there.
double LinkSchedule::fetch(TaskId t, MemoryId m) {
  double arrival = 0;
  for (const Access& a : graph_.accesses(t)) {
    if (!reads(a.mode)) continue;
    const MemoryId from = source(a.data, m);
    if (from != m) {
      const Path& way = path(from, m);
      const double seconds = static_cast<double>(graph_.data(a.data).size.value) * way.seconds_per_byte;
      const double start = leave(way, copy(a.data, from), seconds);
      if (seconds > 0)
        for (const LinkId l : way.links) links_[l].occupy(start, start + seconds);
      copy(a.data, m) = start + seconds + way.latency;
      transfers_.push_back({a.data, writer_[a.data], from, m, start});
    }
    if (copy(a.data, m) < kAbsent) arrival = std::max(arrival, copy(a.data, m));
  }
  return arrival;
}

bool LinkSchedule::place(TaskId t, PlaceId only, std::span<const double> weight, double fetch_weight) {
  double ready = 0;
  for (const auto& edge : instance_->inputs(t)) ready = std::max(ready, slots_[edge.task].finish);
  PartialSchedule::Slot best;
  double least = kAbsent;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    if (only != kAnyPlace && static_cast<std::size_t>(only) != p) continue;
    const Place& here = places_[p];
    const double seconds = instance_->seconds(t, here.workers[0]);
    if (seconds == Instance::infinity()) continue;
    const Fetch inputs = look(t, here.memory);
    const double from = std::max(ready, inputs.arrival);
    PartialSchedule::Slot slot;
    for (const WorkerId w : here.workers) {
      const double start = workers_[w].earliest(from, seconds);
      if (start + seconds >= slot.finish) continue;
      slot = {w, start, start + seconds};
      if (start <= from) break;
    }
    const double score =
        slot.finish + (weight.empty() ? 0 : (weight[p] - 1) * seconds) + fetch_weight * inputs.seconds;
    if (score < least) {
      least = score;
      best = slot;
    }
  }
  if (best.worker == kNoWorker) return false;
  const MemoryId m = instance_->memory_of(best.worker);
  const double seconds = instance_->seconds(t, best.worker);
  const double start = workers_[best.worker].earliest(std::max(ready, fetch(t, m)), seconds);
  slots_[t] = {best.worker, start, start + seconds};
  workers_[best.worker].occupy(start, start + seconds);
  for (const Access& a : graph_.accesses(t)) {
    if (!writes(a.mode)) continue;
    for (MemoryId other = 0; other < memories_; ++other) copy(a.data, other) = kAbsent;
    copy(a.data, m) = start + seconds;
    writer_[a.data] = t;
  }
  return true;
}

}  // namespace espalier
