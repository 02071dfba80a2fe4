#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace espalier::model {

enum class EventKind : std::uint8_t { task_end, transfer_end, flow_start, flow_end, transfer_due };

struct Event {
  double time;
  std::uint32_t subject;  ///< worker of task_end, planned one of transfer_due, else the transfer
  std::uint32_t version;  ///< of a flow: an event of an older version is void
  EventKind kind;
};

/// Earliest first; at one time by kind, then by subject: the order does not depend on how events came in.
class EventQueue {
 public:
  bool empty() const { return events_.empty(); }
  double next_time() const { return events_.front().time; }
  void push(Event e) {
    events_.push_back(e);
    std::push_heap(events_.begin(), events_.end(), later);
  }
  Event pop() {
    std::pop_heap(events_.begin(), events_.end(), later);
    const Event e = events_.back();
    events_.pop_back();
    return e;
  }

 private:
  static bool later(const Event& a, const Event& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.kind != b.kind) return a.kind > b.kind;
    return a.subject > b.subject;
  }
  std::vector<Event> events_;
};

}  // namespace espalier::model
