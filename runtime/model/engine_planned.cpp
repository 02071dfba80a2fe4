#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/model/engine.hpp"

/// Transfers that the plan chose: each leaves at its time, or as soon after it as its datum is there.
namespace espalier::model {

void Engine::begin_planned() {
  planned_moves_ = PlannedTransfers(source_.transfers(), graph_);
  for (std::uint32_t i = 0; i < planned_moves_.size(); ++i)
    events_.push({planned_moves_[i].what.start, i, 0, EventKind::transfer_due});
}

/// Begins a planned transfer when it is due and its content is there.
void Engine::try_planned(std::uint32_t index) {
  PlannedTransfers::Move& move = planned_moves_[index];
  const PlannedTransfer what = move.what;
  if (!move.pending || now_ < what.start) return;
  const DataId d = what.data;
  if (planned_moves_.writer(d) != what.after) return;  // not written yet, or written again
  const std::int64_t bytes = graph_.data(d).size.value;
  if (!move.reserved) {
    const bool no_room = replicas_.bounded(what.to) && replicas_.free(what.to) < bytes;
    if (replicas_.valid(d, what.to) || replicas_.arriving(d, what.to) || no_room)
      return planned_moves_.close(index);
  }
  const MemoryId from = replicas_.valid(d, what.from) ? what.from : nearest_copy(d, what.to);
  if (from >= platform_.memories.size()) return planned_moves_.close(index);
  if (!transfers_.reachable(from, what.to))
    throw InputError(
        fmt::format("platform {}: memory {} cannot be reached from memory {}: no route joins them",
                    platform_.name, platform_.memories[what.to].name, platform_.memories[from].name));
  if (!move.reserved) replicas_.reserve(what.to, bytes);
  replicas_.set_arriving(d, what.to, true);
  if (replicas_.bounded(from)) replicas_.pin(d, from);
  Transfer t;
  t.data = d;
  t.from = from;
  t.to = what.to;
  t.size = graph_.data(d).size;
  t.demanded = !move.waiters.empty() || move.result;
  t.key = what.start;
  const TransferId id = transfers_.begin(std::move(t), now_);
  transfers_[id].waiters = std::move(move.waiters);
  planned_moves_.close(index);
}

/// True when a planned transfer that has not left yet will bring the datum; the waiter is told of it.
bool Engine::await_planned(DataId d, MemoryId m, const Waiter* waiter) {
  const std::uint32_t index = planned_moves_.find(d, m);
  if (index == planned_moves_.size()) return false;
  PlannedTransfers::Move& move = planned_moves_[index];
  if (waiter == nullptr) {  // a result on its last way
    planned_moves_.expect_result(index);
    if (!move.reserved) replicas_.reserve(m, graph_.data(d).size.value);
    move.reserved = true;
    return true;
  }
  move.reserved = true;  // by place()
  move.waiters.push_back(*waiter);
  return true;
}

}  // namespace espalier::model
