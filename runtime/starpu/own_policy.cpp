#include "runtime/starpu/own_policy.hpp"

#include <atomic>
#include <climits>

#include "runtime/starpu/codelets.hpp"
#include "runtime/starpu/common_queue.hpp"
#include "runtime/starpu/taking_turns.hpp"

namespace espalier::starpu {
namespace {

// Workers of a StarPU without blocking drivers look for tasks by themselves.
#if defined(STARPU_NON_BLOCKING_DRIVERS) && !defined(STARPU_SIMGRID)
constexpr bool kWorkersSleep = false;
#else
constexpr bool kWorkersSleep = true;
#endif

#ifdef STARPU_SIMGRID
constexpr bool kSimulated = true;
#else
constexpr bool kSimulated = false;
#endif

std::atomic<TaskDriver*> driver{nullptr};

/// Set while a worker asks the driver: an idle one does so all the time, also when the driver is taken away.
struct alignas(128) Asking {
  std::atomic<bool> now{false};
};
Asking asking[STARPU_NMAXWORKERS];

CommonQueue& common() {
  static CommonQueue queue;
  return queue;
}

/// The driver and the task's number for it; null for a task that it does not know.
TaskDriver* driver_of(starpu_task* task, TaskId& id) {
  TaskDriver* d = driver.load(std::memory_order_acquire);
  if (d == nullptr) return nullptr;
  const TaskBody* body = body_of(task);
  if (body == nullptr || body->task() == kNoTask || body->program() != d->program()) return nullptr;
  id = body->task();
  return d;
}

void init(unsigned /*context*/) {
  starpu_sched_set_min_priority(INT_MIN);
  starpu_sched_set_max_priority(INT_MAX);
}

void deinit(unsigned /*context*/) {}

/// Moves the inputs to the worker's own memory while it still computes something else.
void prefetch_inputs(starpu_task* task, WorkerId worker) {
  if (worker == kNoWorker || worker >= starpu_worker_get_count()) return;
  const unsigned node = starpu_worker_get_memory_node(worker);
  if (node != STARPU_MAIN_RAM) starpu_prefetch_task_input_on_node(task, node);
}

int push(starpu_task* task) {
  TaskId id = kNoTask;
  WorkerId worker = kNoWorker;
  if (TaskDriver* d = driver_of(task, id); d != nullptr) {
    prefetch_inputs(task, d->planned_worker(id));
    worker = d->push(task, id);
  } else {
    common().push(task);
  }
  if constexpr (kWorkersSleep) {
    if (worker != kNoWorker)
      starpu_wake_worker_relax_light(worker);
    else
      wake_workers();
  }
  return 0;
}

starpu_task* pop(unsigned /*context*/) {
  const auto worker = static_cast<unsigned>(starpu_worker_get_id());
  if (driver.load(std::memory_order_relaxed) != nullptr) {
    asking[worker].now.store(true);
    TaskDriver* d = driver.load();
    starpu_task* task = d != nullptr ? d->pop(worker) : nullptr;
    asking[worker].now.store(false, std::memory_order_release);
    if (task != nullptr) return task;
  }
  starpu_task* task = common().pop(worker);
  // a worker that polls with nothing to do leaves its core to whoever submits, or to another worker's thread
  if constexpr (!kWorkersSleep)
    if (task == nullptr) let_others_run();
  return task;
}

/// Between the pop and the start lies the way of the data, which a worker beside main memory does not wait
/// for.
void before(starpu_task* task, unsigned /*context*/) {
  const auto worker = static_cast<unsigned>(starpu_worker_get_id());
  if (!kSimulated && starpu_worker_get_memory_node(worker) == STARPU_MAIN_RAM) return;
  TaskId id = kNoTask;
  if (TaskDriver* d = driver_of(task, id); d != nullptr) d->started(id, worker);
}

void after(starpu_task* task, unsigned /*context*/) {
  TaskId id = kNoTask;
  if (TaskDriver* d = driver_of(task, id); d != nullptr)
    d->done(id, static_cast<unsigned>(starpu_worker_get_id()));
}

starpu_sched_policy make_policy() {
  starpu_sched_policy p{};
  p.init_sched = init;
  p.deinit_sched = deinit;
  p.push_task = push;
  p.pop_task = pop;
  p.pre_exec_hook = before;
  p.post_exec_hook = after;
  p.policy_name = "espalier";
  p.policy_description = "carries out a plan or asks an online policy of Espalier's";
  p.worker_type = STARPU_WORKER_LIST;
  return p;
}

}  // namespace

starpu_sched_policy* own_policy() {
  static starpu_sched_policy policy = make_policy();
  return &policy;
}

void set_driver(TaskDriver* next) {
  driver.store(next);
  for (const Asking& worker : asking)
    while (worker.now.load()) let_others_run();
}

void wake_workers() {
  if constexpr (kWorkersSleep)
    for (unsigned w = 0; w < starpu_worker_get_count(); ++w)
      starpu_wake_worker_relax_light(static_cast<int>(w));
}

}  // namespace espalier::starpu
