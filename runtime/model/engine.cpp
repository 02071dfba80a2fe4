#include "runtime/model/engine.hpp"

#include <cmath>
#include <fmt/format.h>
#include <numbers>

#include "graphs/base/error.hpp"

namespace espalier::model {
namespace {

constexpr std::uint8_t kPlanWindow = 3;         ///< tasks a worker holds when its plan is known
constexpr std::uint8_t kAcceleratorWindow = 2;  ///< as StarPU's CUDA workers do by default
constexpr std::size_t kSampledMemories = 64;

double uniform(std::uint64_t x) {  // splitmix64 to (0, 1)
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return (static_cast<double>((x ^ (x >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/// Log-normal factor of mean 1; a function of seed and task only, whatever the order of execution.
double noise_factor(std::uint64_t seed, TaskId task, double deviation) {
  const double variance = std::log1p(deviation * deviation);
  const double u = uniform(seed * 0x100000001b3ULL + 2ULL * task);
  const double v = uniform(seed * 0x100000001b3ULL + 2ULL * task + 1);
  const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  return std::exp(std::sqrt(variance) * normal - variance / 2);
}

}  // namespace

Engine::Engine(const SchedulingProblem& problem, const SimulationOptions& options, TaskSource& source)
    : graph_(problem.graph),
      platform_(problem.platform),
      problem_(problem),
      options_(options),
      source_(source),
      replicas_(problem.graph, problem.platform),
      transfers_(problem.platform, problem.graph.data_count(), options.contention, events_) {}

void Engine::prepare() {
  const std::size_t n = graph_.task_count();
  left_ = n;
  missing_.resize(n);
  if (options_.record_trace) {
    ready_time_.resize(n);
    trace_.tasks.reserve(n);
  }
  for (TaskId t = 0; t < n; ++t) missing_[t] = static_cast<std::uint32_t>(graph_.predecessors(t).size());
  planned_ = n > 0 && source_.planned_worker(0) != kNoWorker;
  for (const Worker& w : platform_.workers) {
    WorkerState state;
    state.kind = w.kind;
    state.memory = w.memory;
    const bool ahead = platform_.kinds[w.kind].type == DeviceType::cuda;
    if (options_.prefetch) state.most = planned_ ? kPlanWindow : ahead ? kAcceleratorWindow : 1;
    workers_.push_back(std::move(state));
  }
  const std::size_t memories = platform_.memories.size();
  leaving_.assign(memories, 0);
  room_queue_.resize(memories);
  sampled_.assign(memories, 0);
  for (MemoryId m = 0; m < memories; ++m) any_bounded_ = any_bounded_ || replicas_.bounded(m);
  require_room();
  begin_data();
  begin_planned();
}

double Engine::expected_free(WorkerId worker) const {
  const WorkerState& w = workers_[worker];
  return (w.running != kNoTask ? std::max(w.end, now_) : now_) + w.queued;
}

double Engine::duration(TaskId task, KindId kind) const {
  return problem_.costs.seconds(graph_.task(task).cost_class, kind) +
         platform_.kinds[kind].task_overhead.value;
}

void Engine::make_ready(TaskId task) {
  if (options_.record_trace) ready_time_[task] = now_;
  ++available_;
  if (planned_) woken_.push_back(source_.planned_worker(task));
  source_.ready(task);
}

Trace Engine::run() {
  prepare();
  source_.begin(*this);
  for (TaskId t = 0; t < graph_.task_count(); ++t)
    if (missing_[t] == 0) make_ready(t);
  dispatch();
  sample_memory();
  while (!events_.empty() && (left_ > 0 || transfers_.active() > 0 || planned_moves_.owed() > 0)) {
    now_ = events_.next_time();
    do handle(events_.pop());
    while (!events_.empty() && events_.next_time() == now_);
    transfers_.settle(now_);
    dispatch();
    sample_memory();
  }
  if (left_ > 0) {
    for (MemoryId m = 0; m < room_queue_.size(); ++m)
      if (!room_queue_[m].empty())
        throw InputError(fmt::format("task {} finds no room in memory {} of platform {} ({} bytes)",
                                     graph_.task_name(room_queue_[m][0].task), platform_.memories[m].name,
                                     platform_.name, platform_.memories[m].capacity.value));
    source_.fail_stuck(left_);
  }
  trace_.engine = "model";
  trace_.makespan = finish_;
  trace_.peak_memory = replicas_.peak();
  return std::move(trace_);
}

void Engine::handle(const Event& event) {
  if (event.kind == EventKind::task_end)
    finish_task(static_cast<WorkerId>(event.subject));
  else if (event.kind == EventKind::transfer_due)
    try_planned(event.subject);
  else if (transfers_.handle(event, now_))
    arrive(event.subject);
}

void Engine::finish_task(WorkerId w) {
  WorkerState& worker = workers_[w];
  const TaskId task = worker.running;
  worker.running = kNoTask;
  woken_.push_back(w);
  --left_;
  finish_ = std::max(finish_, now_);
  worker.event.end = now_;
  if (options_.record_trace) trace_.tasks.push_back(worker.event);
  for (const Access& a : graph_.accesses(task)) {
    if (writes(a.mode)) written(a.data, worker.memory);
    if (writes(a.mode)) planned_moves_.written(a.data, task);
    if (replicas_.bounded(worker.memory))
      replicas_.unpin(a.data, worker.memory, eviction_key(a.data, worker.memory));
    if (--uses_left_[a.data] == 0) last_use(a.data);
  }
  source_.done(task, w);
  if (options_.prefetch && planned_ && planned_moves_.empty()) push_outputs(task, worker.memory);
  for (const std::uint32_t i : planned_moves_.after(task)) try_planned(i);
  for (const TaskId s : graph_.successors(task))
    if (--missing_[s] == 0) make_ready(s);
  if (any_bounded_)
    for (MemoryId m = 0; m < room_queue_.size(); ++m) serve_room_queue(m);
}

/// Gives tasks to workers that can take one: all idle workers first, then those that take one ahead.
void Engine::dispatch() {
  for (std::size_t i = 0; i < woken_.size(); ++i) advance(woken_[i]);
  if (planned_) {
    for (std::size_t i = 0; i < woken_.size(); ++i) feed(woken_[i]);
  } else {
    for (WorkerId w = 0; w < workers_.size() && available_ > 0; ++w)
      if (workers_[w].held() == 0) feed(w);
    for (WorkerId w = 0; w < workers_.size() && available_ > 0; ++w)
      if (workers_[w].most > 1) feed(w);
  }
  woken_.clear();
}

void Engine::feed(WorkerId w) {
  WorkerState& worker = workers_[w];
  while (worker.held() < worker.most && available_ > 0) {
    const TaskId task = source_.next(w);
    if (task == kNoTask) return;
    if (task >= graph_.task_count() || missing_[task] != 0)
      throw InternalError(fmt::format("the policy gave out task {}, which is not ready", task));
    missing_[task] = ~std::uint32_t{0};  // given out: a second time is an error
    if (!problem_.costs.can_run(graph_.task(task).cost_class, worker.kind))
      throw InternalError(fmt::format("the policy gave task {} to worker {}, which cannot run it",
                                      graph_.task_name(task), platform_.workers[w].name));
    --available_;
    Staged staged;
    staged.task = task;
    worker.queued += duration(task, worker.kind);
    worker.staged.push_back(staged);
    advance(w);
  }
}

/// Stages what is not staged yet, in order, and starts the first task if it can.
void Engine::advance(WorkerId w) {
  WorkerState& worker = workers_[w];
  for (std::size_t i = 0; i < worker.staged.size(); ++i) {
    Staged& s = worker.staged[i];
    if (s.placed) continue;
    if (s.queued || !place(w, s)) break;
  }
  if (worker.running == kNoTask && !worker.staged.empty() && worker.staged[0].placed &&
      worker.staged[0].missing == 0)
    start(w);
}

void Engine::start(WorkerId w) {
  WorkerState& worker = workers_[w];
  const Staged staged = worker.staged.front();
  worker.staged.erase(worker.staged.begin());
  const double expected = duration(staged.task, worker.kind);
  worker.queued = worker.staged.empty() ? 0 : worker.queued - expected;
  worker.running = staged.task;
  worker.end = now_ + expected;
  double real = expected;
  if (options_.duration_noise > 0) real *= noise_factor(problem_.seed, staged.task, options_.duration_noise);
  if (options_.record_trace)
    worker.event = {staged.task,        w, now_, 0, ready_time_[staged.task], staged.data_ready,
                    staged.memory_ready};
  events_.push({now_ + real, w, 0, EventKind::task_end});
  woken_.push_back(w);  // it may take the next one ahead
}

void Engine::sample_memory() {
  if (!options_.record_trace || sampled_.size() > kSampledMemories) return;
  for (MemoryId m = 0; m < sampled_.size(); ++m)
    if (replicas_.used(m) != sampled_[m]) {
      sampled_[m] = replicas_.used(m);
      trace_.memory.push_back({now_, m, sampled_[m]});
    }
}

}  // namespace espalier::model
