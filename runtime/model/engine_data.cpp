#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "runtime/model/engine.hpp"

/// The engine's data: copies, transfers and room in memories.
namespace espalier::model {
namespace {

constexpr MemoryId kNoMemory = ~MemoryId{0};

bool is_host(const Platform& platform, MemoryId m) {
  return m == 0 || std::any_of(platform.workers.begin(), platform.workers.end(), [&](const Worker& w) {
           return w.memory == m && platform.kinds[w.kind].type == DeviceType::cpu;
         });
}

}  // namespace

/// Each task's data fit into some memory where it can run.
void Engine::require_room() const {
  if (!any_bounded_) return;
  for (TaskId t = 0; t < graph_.task_count(); ++t) {
    std::int64_t bytes = 0;
    for (const Access& a : graph_.accesses(t)) bytes += graph_.data(a.data).size.value;
    std::int64_t most = -1;
    MemoryId where = 0;
    for (WorkerId w = 0; w < workers_.size(); ++w)
      if (problem_.costs.can_run(graph_.task(t).cost_class, workers_[w].kind)) {
        const std::int64_t room = platform_.memories[workers_[w].memory].capacity.value;
        if (room > most) {
          most = room;
          where = workers_[w].memory;
        }
      }
    if (most >= 0 && bytes > most)
      throw InputError(fmt::format(
          "task {} needs {} bytes for its data, but the largest memory where it can run, {} of platform {}, "
          "has {} bytes: more memory, smaller micro-batches or a split layer would do",
          graph_.task_name(t), bytes, platform_.memories[where].name, platform_.name, most));
  }
}

/// Data that are read before anything writes them are at home at the start.
void Engine::begin_data() {
  const std::size_t n = graph_.data_count();
  uses_left_.assign(n, 0);
  std::vector<char> seen(n, 0);
  for (TaskId t = 0; t < graph_.task_count(); ++t)
    for (const Access& a : graph_.accesses(t)) {
      ++uses_left_[a.data];
      if (seen[a.data] != 0) continue;
      seen[a.data] = 1;
      if (!reads(a.mode)) continue;
      const MemoryId home = graph_.data(a.data).home;
      if (home >= platform_.memories.size())
        throw InputError(fmt::format("datum {} starts in memory {}, but platform {} has {} memories", a.data,
                                     home, platform_.name, platform_.memories.size()));
      replicas_.reserve(home, graph_.data(a.data).size.value);
      replicas_.set_valid(a.data, home);
      if (replicas_.bounded(home)) {
        if (replicas_.free(home) < 0)
          throw InputError(fmt::format(
              "memory {} of platform {} has {} bytes, less than the data that start there need",
              platform_.memories[home].name, platform_.name, platform_.memories[home].capacity.value));
        replicas_.make_evictable(a.data, home, 0);
      }
    }
  backing_.assign(platform_.memories.size(), kNoMemory);
  for (MemoryId m = 0; any_bounded_ && m < backing_.size(); ++m) {
    double best = std::numeric_limits<double>::infinity();
    for (MemoryId to = 0; to < backing_.size(); ++to)
      if (to != m && is_host(platform_, to) && transfers_.estimate(Bytes(1 << 20), m, to) < best) {
        best = transfers_.estimate(Bytes(1 << 20), m, to);
        backing_[m] = to;
      }
  }
  if (!options_.prefetch || !source_.transfers().empty()) return;
  for (TaskId t = 0; t < graph_.task_count(); ++t) {
    const WorkerId w = source_.planned_worker(t);
    if (w == kNoWorker) return;
    for (const Access& a : graph_.accesses(t))
      if (reads(a.mode)) fetch(a.data, platform_.workers[w].memory, nullptr, source_.planned_start(t));
  }
}

double Engine::eviction_key(DataId d, MemoryId m) {
  const double next = source_.next_use(d, m);
  return next >= 0 ? next : -++clock_;
}

MemoryId Engine::nearest_copy(DataId d, MemoryId m) const {
  MemoryId best = kNoMemory;
  double best_time = std::numeric_limits<double>::infinity();
  replicas_.for_each_valid(d, [&](MemoryId from) {
    const double time = transfers_.estimate(graph_.data(d).size, from, m);
    if (best == kNoMemory || time < best_time) {
      best = from;
      best_time = time;
    }
  });
  return best;
}

/// Starts moving a datum unless it is there or on its way. With a waiter it is demanded (room is reserved by
/// place()); without one it is a prefetch, which takes free room only.
void Engine::fetch(DataId d, MemoryId m, const Waiter* waiter, double key) {
  if (replicas_.valid(d, m)) return;
  if (!planned_moves_.empty() && await_planned(d, m, waiter)) return;
  if (replicas_.arriving(d, m)) {
    if (waiter == nullptr) return;
    const TransferId id = transfers_.find(d, m);
    transfers_.demand(id);
    transfers_[id].waiters.push_back(*waiter);
    return;
  }
  const MemoryId from = nearest_copy(d, m);
  if (from == kNoMemory) {
    if (waiter == nullptr) return;  // not produced yet
    throw InternalError(fmt::format("datum {} has no valid copy", d));
  }
  if (!transfers_.reachable(from, m))
    throw InputError(
        fmt::format("platform {}: memory {} cannot be reached from memory {}: no route joins them",
                    platform_.name, platform_.memories[m].name, platform_.memories[from].name));
  const Bytes size = graph_.data(d).size;
  if (waiter == nullptr) {
    if (replicas_.bounded(m) && replicas_.free(m) < size.value) return;
    replicas_.reserve(m, size.value);
  }
  replicas_.set_arriving(d, m, true);
  if (replicas_.bounded(from)) replicas_.pin(d, from);
  Transfer t;
  t.data = d;
  t.from = from;
  t.to = m;
  t.size = size;
  t.demanded = waiter != nullptr;
  t.key = key;
  const TransferId id = transfers_.begin(std::move(t), now_);
  if (waiter != nullptr) transfers_[id].waiters.push_back(*waiter);
}

void Engine::prefetch(TaskId task, MemoryId memory) {
  if (!options_.prefetch) return;
  for (const Access& a : graph_.accesses(task))
    if (reads(a.mode)) fetch(a.data, memory, nullptr, now_);
}

/// Outputs of a task go to where the plan reads them next.
void Engine::push_outputs(TaskId task, MemoryId m) {
  const auto outputs = graph_.accesses(task);
  for (const TaskId s : graph_.successors(task)) {
    const MemoryId to = platform_.workers[source_.planned_worker(s)].memory;
    if (to == m) continue;
    for (const Access& in : graph_.accesses(s)) {
      if (!reads(in.mode)) continue;
      for (const Access& out : outputs)
        if (out.data == in.data && writes(out.mode)) fetch(in.data, to, nullptr, source_.planned_start(s));
    }
  }
}

/// Finds room for all data of a task in its worker's memory, pins them and calls for those that are missing.
bool Engine::place(WorkerId w, Staged& staged) {
  const MemoryId m = workers_[w].memory;
  const auto accesses = graph_.accesses(staged.task);
  for (const Access& a : accesses)
    if (!reads(a.mode)) retire(a.data);  // nobody reads the old content any more
  if (replicas_.bounded(m)) {
    std::int64_t need = 0;
    for (const Access& a : accesses) {
      replicas_.pin(a.data, m);
      if (!replicas_.valid(a.data, m) && !coming(a.data, m)) need += graph_.data(a.data).size.value;
    }
    const bool first = room_queue_[m].empty() || room_queue_[m][0].task == staged.task;
    if (need > 0 && (!first || !find_room(m, need, staged.task))) {
      for (const Access& a : accesses) replicas_.unpin(a.data, m, eviction_key(a.data, m));
      if (!staged.queued) room_queue_[m].push_back({staged.task, w});
      staged.queued = true;
      return false;
    }
  }
  staged.placed = true;
  staged.memory_ready = now_;
  const Waiter waiter{staged.task, w};
  for (const Access& a : accesses) {
    if (replicas_.valid(a.data, m)) continue;
    if (!coming(a.data, m)) replicas_.reserve(m, graph_.data(a.data).size.value);
    if (!reads(a.mode)) continue;
    fetch(a.data, m, &waiter, 0);
    ++staged.missing;
  }
  staged.data_ready = now_;
  if (options_.record_trace && !staged.queued) {
    staged.memory_ready = ready_time_[staged.task];
    if (staged.missing == 0) staged.data_ready = staged.memory_ready;
  }
  return true;
}

/// True when `bytes` are free. Otherwise evicts as many as are needed; write-backs take their time.
bool Engine::find_room(MemoryId m, std::int64_t bytes, TaskId task) {
  const std::int64_t capacity = platform_.memories[m].capacity.value;
  if (bytes > capacity)
    throw InputError(fmt::format("task {} needs {} bytes for its data in memory {}, which has {} bytes",
                                 graph_.task_name(task), bytes, platform_.memories[m].name, capacity));
  while (replicas_.free(m) + leaving_[m] < bytes) {
    const auto victim = replicas_.take_victim(m);
    if (!victim) return false;
    evict(*victim, m, task);
  }
  return replicas_.free(m) >= bytes;
}

void Engine::evict(DataId d, MemoryId m, TaskId task) {
  if (replicas_.valid_elsewhere(d, m)) {
    replicas_.drop(d, m);
    return;
  }
  const MemoryId to = backing_[m];
  const std::int64_t bytes = graph_.data(d).size.value;
  leaving_[m] += bytes;
  if (to != kNoMemory && replicas_.arriving(d, to)) {
    transfers_[transfers_.find(d, to)].eviction = true;
    return;
  }
  if (to == kNoMemory || !make_room_by_dropping(to, bytes))
    throw InputError(
        fmt::format("memory {} of platform {} ({} bytes) is too small: task {} needs room there, and {} "
                    "bytes that no other "
                    "memory holds have nowhere to go",
                    platform_.memories[m].name, platform_.name, platform_.memories[m].capacity.value,
                    graph_.task_name(task), bytes));
  replicas_.reserve(to, bytes);
  replicas_.set_arriving(d, to, true);
  replicas_.pin(d, m);
  Transfer t;
  t.data = d;
  t.from = m;
  t.to = to;
  t.size = graph_.data(d).size;
  t.demanded = t.eviction = true;
  transfers_.begin(std::move(t), now_);
}

/// Room in a memory that others write back to: gives up copies that exist elsewhere too.
bool Engine::make_room_by_dropping(MemoryId m, std::int64_t bytes) {
  if (!replicas_.bounded(m)) return true;
  std::vector<DataId> kept;
  while (replicas_.free(m) < bytes) {
    const auto victim = replicas_.take_victim(m);
    if (!victim) break;
    if (replicas_.valid_elsewhere(*victim, m))
      replicas_.drop(*victim, m);
    else
      kept.push_back(*victim);
  }
  for (const DataId d : kept) replicas_.make_evictable(d, m, eviction_key(d, m));
  return replicas_.free(m) >= bytes;
}

void Engine::arrive(TransferId id) {
  const Transfer& t = transfers_[id];
  const DataId d = t.data;
  const MemoryId from = t.from, to = t.to;
  const bool eviction = t.eviction;
  if (eviction) leaving_[from] -= graph_.data(d).size.value;
  if (options_.record_trace && (!t.stale || now_ > t.start))
    trace_.transfers.push_back({d, from, to, t.start, now_, eviction});
  if (t.stale) {
    replicas_.release(to, graph_.data(d).size.value);
  } else {
    replicas_.set_arriving(d, to, false);
    replicas_.set_valid(d, to);
    if (replicas_.bounded(to) && !replicas_.pinned(d, to))
      replicas_.make_evictable(d, to, eviction_key(d, to));
    for (const Waiter& w : t.waiters) {
      for (Staged& s : workers_[w.worker].staged)
        if (s.task == w.task && --s.missing == 0) s.data_ready = now_;
      woken_.push_back(w.worker);
    }
    if (replicas_.bounded(from)) replicas_.unpin(d, from, eviction_key(d, from));
    if (eviction && !replicas_.pinned(d, from) && replicas_.valid(d, from)) replicas_.drop(d, from);
    if (uses_left_[d] == 0) finish_ = std::max(finish_, now_);  // a result has come home
  }
  transfers_.end(id, now_);
  if (any_bounded_) {
    serve_room_queue(from);
    serve_room_queue(to);
  }
}

/// In line, the first whose room is found is placed; the others keep waiting.
void Engine::serve_room_queue(MemoryId m) {
  auto& queue = room_queue_[m];
  while (!queue.empty()) {
    const Waiter first = queue[0];
    WorkerState& worker = workers_[first.worker];
    const auto s = std::find_if(worker.staged.begin(), worker.staged.end(),
                                [&](const Staged& x) { return x.task == first.task; });
    if (!place(first.worker, *s)) return;
    s->queued = false;
    queue.erase(queue.begin());
    woken_.push_back(first.worker);
  }
}

/// A task has written a datum: the other copies are void, and so is what moves.
void Engine::written(DataId d, MemoryId m) {
  retire(d);
  replicas_.for_each_valid(d, [&](MemoryId other) {
    if (other != m) replicas_.drop(d, other);
  });
  replicas_.set_valid(d, m);
}

void Engine::retire(DataId d) {
  transfers_.for_each_live(d, [&](Transfer& t) {
    t.stale = true;
    replicas_.set_arriving(d, t.to, false);
    if (replicas_.bounded(t.from)) replicas_.unpin(d, t.from, eviction_key(d, t.from));
  });
}

void Engine::last_use(DataId d) {
  if (graph_.data(d).is_result) {
    const MemoryId home = graph_.data(d).home;
    if (replicas_.valid(d, home)) return;
    if (!make_room_by_dropping(home, graph_.data(d).size.value))
      throw InputError(fmt::format("memory {} of platform {} ({} bytes) has no room for a result of {} bytes",
                                   platform_.memories[home].name, platform_.name,
                                   platform_.memories[home].capacity.value, graph_.data(d).size.value));
    fetch(d, home, nullptr, 0);
    return;
  }
  retire(d);
  replicas_.for_each_valid(d, [&](MemoryId m) { replicas_.drop(d, m); });
}

}  // namespace espalier::model
