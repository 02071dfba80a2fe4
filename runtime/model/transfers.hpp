#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/copy_engines.hpp"
#include "runtime/model/event_queue.hpp"
#include "runtime/model/flow_network.hpp"

namespace espalier::model {

using TransferId = std::uint32_t;
constexpr TransferId kNoTransfer = ~TransferId{0};

/// Who waits for a transfer: a task staged on a worker.
struct Waiter {
  TaskId task;
  WorkerId worker;
};

struct Transfer {
  DataId data = 0;
  MemoryId from = 0, to = 0;
  Bytes size;
  bool demanded = false;  ///< a task that has been given out waits for it
  bool eviction = false;
  bool stale = false;   ///< its datum was overwritten or dropped meanwhile
  bool moving = false;  ///< has left the queue of its pair
  double key = 0;       ///< smaller first among what is only prefetched
  double start = 0;     ///< when it left the queue
  std::vector<Waiter> waiters;
  TransferId next_of_data = kNoTransfer;
};

/// Transfers queued and under way. Between one pair of memories one transfer moves at a time, as on a copy
/// engine: those that tasks wait for first, then prefetches by key; pairs share links max-min fairly. Where
/// no link of the route is shared, or without contention, each starts at once and has its route alone. Where
/// the platform's copies between GPUs are serial, pairs exclude each other too (CopyEngines), and what waits
/// keeps what comes after it from overtaking on the same ends.
class Transfers {
 public:
  Transfers(const Platform& platform, std::size_t data_count, bool contention, EventQueue& events);

  /// A transfer with data, from, to, size, demanded, eviction and key set.
  TransferId begin(Transfer what, double now);
  /// A prefetch that a task now waits for overtakes other prefetches.
  void demand(TransferId id);
  /// The transfer of this datum to this memory that is not stale, or kNoTransfer.
  TransferId find(DataId data, MemoryId to) const;
  /// Each transfer of this datum that is not stale.
  template <class F>
  void for_each_live(DataId data, F&& f) {
    for (TransferId id = first_of_data_[data]; id != kNoTransfer; id = transfers_[id].next_of_data)
      if (!transfers_[id].stale) f(transfers_[id]);
  }
  /// Takes an event of its own kinds; true when the transfer is through: then the caller reads it and calls
  /// end().
  bool handle(const Event& event, double now);
  void end(TransferId id, double now);
  /// New rates after the events of one time.
  void settle(double now);
  Transfer& operator[](TransferId id) { return transfers_[id]; }
  std::size_t active() const { return active_; }
  /// Seconds that a transfer begun now would take by itself, with what is queued before it on its pair.
  double estimate(Bytes size, MemoryId from, MemoryId to) const;
  bool reachable(MemoryId from, MemoryId to) const { return path(from, to).exists; }

 private:
  struct Path {
    bool exists = false;
    bool alone = true;  ///< no queue, no sharing
    double bandwidth = 0, latency = 0;
    std::vector<LinkId> links;
  };
  struct Entry {
    bool demanded;
    double key;
    std::uint32_t sequence;
    TransferId id;
    std::uint32_t generation;
  };
  struct Pair {
    std::vector<Entry> waiting;  ///< heap
    bool busy = false;
    bool listed = false;  ///< among waiting_pairs_
    double queued_bytes = 0;
  };
  struct Candidate {
    Entry head;
    std::uint32_t pair;
  };
  static bool later(const Entry& a, const Entry& b);
  const Path& path(MemoryId from, MemoryId to) const {
    return uniform_ ? uniform_path_ : paths_[from * memories_ + to];
  }
  void build_paths(const Platform& platform, bool contention);
  void enqueue(TransferId id);
  void set_out(TransferId id, double now);
  bool drop_void_entries(Pair& pair);
  void start_waiting(double now);
  void move(TransferId id, double now);

  EventQueue& events_;
  FlowNetwork flows_;
  CopyEngines engines_;
  std::size_t memories_;
  bool uniform_ = false;  ///< all pairs use one unshared link (identical:P): no table of pairs
  Path uniform_path_;
  std::vector<Path> paths_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> waiting_pairs_;       ///< where copies are serial: pairs with something in line
  std::vector<Candidate> candidates_, held_back_;  ///< scratch
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> generations_;
  std::vector<TransferId> free_, first_of_data_;
  std::uint32_t sequence_ = 0;
  std::size_t active_ = 0;
};

}  // namespace espalier::model
