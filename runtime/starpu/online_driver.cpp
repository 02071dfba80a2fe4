#include "runtime/starpu/online_driver.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <utility>

#include "graphs/base/error.hpp"
#include "runtime/starpu/program_tasks.hpp"
#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/starpu/taking_turns.hpp"

namespace espalier::starpu {
namespace {

constexpr double kPatience = 1;  ///< seconds for which a policy may keep ready tasks while nothing runs
/// A worker to which the policy had nothing to give asks again when something has happened, or after this
/// many seconds: an idle one that asks all the time keeps the lock from those that work.
constexpr double kAskAgain = 20e-6;

class OnlineDriver final : public TaskDriver, private RuntimeView {
 public:
  OnlineDriver(const void* program, const SchedulingProblem& problem, std::unique_ptr<OnlinePolicy> policy,
               std::string name, DataView* data)
      : TaskDriver(program),
        problem_(problem),
        policy_(std::move(policy)),
        name_(std::move(name)),
        data_(data) {
    problem_.costs.require_runnable(problem_.graph, problem_.platform);
  }

  void begin() override {
    tasks_.assign(problem_.graph.task_count(), nullptr);
    held_.assign(problem_.platform.workers.size(), {});
    idle_ = std::vector<Idle>(problem_.platform.workers.size());
    changes_ = 0;
    error_ = nullptr;
    failed_ = false;
    running_ = available_ = 0;
    ready_ = 0;
    origin_ = last_event_ = clock_ = seconds_now();
    policy_->begin(problem_, *this);
    origin_ = last_event_ = clock_ = seconds_now();
  }

  WorkerId push(starpu_task* task, TaskId id) override {
    starpu_push_task_end(task);
    const std::lock_guard lock(mutex_);
    something_happens();
    tasks_[id] = task;
    ++available_;
    guarded([&] { policy_->ready(id); });
    ready_.store(available_);
    return kNoWorker;
  }

  starpu_task* pop(unsigned worker) override {
    if (ready_.load() == 0 || worker >= held_.size()) return nullptr;
    Idle& idle = idle_[worker];
    if (idle.asked && idle.changes == changes_.load(std::memory_order_acquire) && seconds_now() < idle.again)
      return nullptr;
    const std::lock_guard lock(mutex_);
    if (available_ == 0) return nullptr;
    clock_ = seconds_now();
    TaskId id = kNoTask;
    if (!failed_) {
      guarded([&] { id = policy_->pick(static_cast<WorkerId>(worker)); });
      if (id != kNoTask && (id >= tasks_.size() || tasks_[id] == nullptr)) {
        fail(fmt::format("policy {} gave out task {}, which is not ready", name_, id));
      } else if (id == kNoTask && !failed_ && running_ == 0 && clock_ - last_event_ > kPatience) {
        fail(fmt::format("policy {} keeps back {} ready tasks while nothing runs", name_, available_));
      }
    }
    if (failed_) id = any_ready();
    idle = {id == kNoTask, changes_.load(std::memory_order_relaxed), clock_ + kAskAgain};
    return id == kNoTask ? nullptr : give_out(id, worker);
  }

  void started(TaskId id, unsigned worker) override {
    if (worker >= held_.size()) return;
    const std::lock_guard lock(mutex_);
    for (Held& h : held_[worker])
      if (h.task == id) h.start = seconds_now() - origin_;
  }

  void done(TaskId id, unsigned worker) override {
    if (worker >= held_.size()) return;
    const std::lock_guard lock(mutex_);
    something_happens();
    take_back(id, worker);
    --running_;
    guarded([&] { policy_->done(id, static_cast<WorkerId>(worker)); });
  }

  void release() override {}
  std::exception_ptr error() const override { return error_; }
  std::string name() const override { return name_; }

 private:
  /// What a worker knows of its last question; touched by its own thread only.
  struct alignas(128) Idle {
    bool asked = false;  ///< in vain
    std::uint32_t changes = 0;
    double again = 0;
  };

  /// The time at which the policy was called: one instant for all that it asks meanwhile.
  double now() const override { return clock_ - origin_; }
  double expected_free(WorkerId worker) const override {
    double end = 0;
    for (const Held& h : held_[worker]) end = std::max(end, h.start >= 0 ? h.start : now()) + h.seconds;
    return std::max(end, now());
  }
  bool is_valid(DataId d, MemoryId memory) const override {
    return data_ != nullptr ? data_->is_valid(d, memory) : memory == STARPU_MAIN_RAM;
  }
  bool is_arriving(DataId d, MemoryId memory) const override {
    return data_ != nullptr && data_->is_arriving(d, memory);
  }
  void prefetch(TaskId task, MemoryId memory) override {
    if (data_ != nullptr && tasks_[task] != nullptr) data_->prefetch(task, tasks_[task], memory);
  }

  /// Given out and not ended. A GPU's worker holds the next task while the first one runs.
  struct Held {
    TaskId task;
    double seconds;     ///< expected
    double start = -1;  ///< -1: its data are on their way, as far as is known
  };

  void something_happens() {
    changes_.store(changes_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    last_event_ = clock_ = seconds_now();
  }
  template <class F>
  void guarded(F&& call) noexcept {
    if (failed_) return;
    try {
      call();
    } catch (...) {
      failed_ = true;
      error_ = std::current_exception();
    }
  }
  void fail(const std::string& what) {
    failed_ = true;
    error_ = std::make_exception_ptr(InternalError(what));
  }
  TaskId any_ready() const {
    const auto it = std::find_if(tasks_.begin(), tasks_.end(), [](starpu_task* t) { return t != nullptr; });
    return it == tasks_.end() ? kNoTask : static_cast<TaskId>(it - tasks_.begin());
  }
  starpu_task* give_out(TaskId id, unsigned worker) {
    starpu_task* task = std::exchange(tasks_[id], nullptr);
    ready_.store(--available_);
    ++running_;
    const Worker& w = problem_.platform.workers[worker];
    const double seconds = problem_.costs.seconds(problem_.graph.task(id).cost_class, w.kind) +
                           problem_.platform.kinds[w.kind].task_overhead.value;
    // in main memory a task starts when it is taken; elsewhere started() tells
    held_[worker].push_back({id, seconds, w.memory == STARPU_MAIN_RAM && data_ == nullptr ? now() : -1});
    return task;
  }
  void take_back(TaskId id, unsigned worker) {
    std::erase_if(held_[worker], [&](const Held& h) { return h.task == id; });
  }

  SchedulingProblem problem_;
  std::unique_ptr<OnlinePolicy> policy_;
  std::string name_;
  DataView* data_;
  Mutex mutex_;
  std::vector<starpu_task*> tasks_;      ///< ready and not given out, by task
  std::vector<std::vector<Held>> held_;  ///< by worker
  std::vector<Idle> idle_;               ///< by worker
  std::atomic<std::size_t> ready_{0};
  std::atomic<std::uint32_t> changes_{0};  ///< tasks that became ready or ended
  std::size_t available_ = 0, running_ = 0;
  double origin_ = 0, last_event_ = 0, clock_ = 0;
  bool failed_ = false;
  std::exception_ptr error_;
};

}  // namespace

std::unique_ptr<TaskDriver> make_online_driver(const void* program, const SchedulingProblem& problem,
                                               std::unique_ptr<OnlinePolicy> policy, std::string name,
                                               DataView* data) {
  return std::make_unique<OnlineDriver>(program, problem, std::move(policy), std::move(name), data);
}

}  // namespace espalier::starpu
