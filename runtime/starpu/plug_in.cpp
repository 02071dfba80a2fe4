#include "runtime/starpu/plug_in.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>

#include "graphs/base/error.hpp"
#include "runtime/starpu/common_queue.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/starpu_detail.hpp"

namespace espalier::starpu {
namespace {

constexpr TaskId kPlaces = 8192;
constexpr double kUnknownSeconds = 1e-6;

/// Kinds are what StarPU's models tell apart: the type, and the device of accelerators.
Platform starpu_platform() {
  Platform platform;
  platform.name = "starpu";
  for (unsigned m = 0; m < starpu_memory_nodes_get_count(); ++m)
    platform.memories.emplace_back().name = fmt::format("memory{}", m);
  std::vector<std::pair<int, int>> kinds;
  for (unsigned w = 0; w < starpu_worker_get_count(); ++w) {
    const int id = static_cast<int>(w);
    const auto type = starpu_worker_get_type(id);
    const std::pair<int, int> key{static_cast<int>(type),
                                  type == STARPU_CPU_WORKER ? 0 : starpu_worker_get_devid(id)};
    auto found = std::find(kinds.begin(), kinds.end(), key);
    if (found == kinds.end()) {
      DeviceKind kind;
      kind.name = fmt::format("kind{}", kinds.size());
      kind.type = type == STARPU_CPU_WORKER    ? DeviceType::cpu
                  : type == STARPU_CUDA_WORKER ? DeviceType::cuda
                                               : DeviceType::other;
      platform.kinds.push_back(kind);
      kinds.push_back(key);
      found = kinds.end() - 1;
    }
    platform.workers.push_back({fmt::format("worker{}", w), static_cast<KindId>(found - kinds.begin()),
                                static_cast<MemoryId>(starpu_worker_get_memory_node(w))});
  }
  return platform;
}

/// The places as tasks without dependencies, each of a class of its own.
TaskGraph places() {
  TaskGraphBuilder builder;
  for (TaskId t = 0; t < kPlaces; ++t) {
    Task task;
    task.cost_class = builder.add_class({"place", std::to_string(t), Flops(0), Bytes(0)});
    builder.add_task(task, {});
  }
  return builder.build();
}

class PlugIn {
 public:
  explicit PlugIn(const PlugInPolicy& policy)
      : platform_(starpu_platform()), graph_(places()), costs_(kPlaces, platform_.kinds.size()) {
    for (CostClass c = 0; c < kPlaces; ++c)
      for (KindId k = 0; k < platform_.kinds.size(); ++k)
        costs_.set(c, k, Seconds(kUnknownSeconds), CostSource::given);
    for (TaskId t = kPlaces; t-- > 0;) free_.push_back(t);
    driver_ = make_online_driver(this, {graph_, platform_, costs_}, policy.make(), policy.name);
    driver_->begin();
  }
  ~PlugIn() {
    if (driver_->error() == nullptr) return;
    try {
      std::rethrow_exception(driver_->error());
    } catch (const std::exception& e) {
      std::fprintf(stderr, "espalier: %s\n", e.what());
    }
  }

  void push(starpu_task* task) {
    const TaskId place = take();
    task->sched_data = nullptr;
    if (place == kNoTask) return common_.push(task);
    for (WorkerId w = 0; w < platform_.workers.size(); ++w) set_cost(place, w, task);
    task->sched_data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(place) + 1);
    driver_->push(task, place);
  }
  starpu_task* pop(unsigned worker) {
    starpu_task* task = driver_->pop(worker);
    unsigned implementation = 0;
    if (task != nullptr && starpu_worker_can_execute_task_first_impl(worker, task, &implementation) != 0)
      starpu_task_set_implementation(task, implementation);
    return task != nullptr ? task : common_.pop(worker);
  }
  void started(starpu_task* task) {
    const auto worker = static_cast<unsigned>(starpu_worker_get_id());
    const auto place = reinterpret_cast<std::uintptr_t>(task->sched_data);
    if (place != 0 && platform_.workers[worker].memory != STARPU_MAIN_RAM)
      driver_->started(static_cast<TaskId>(place - 1), worker);
  }
  void done(starpu_task* task) {
    const auto place = reinterpret_cast<std::uintptr_t>(task->sched_data);
    if (place == 0) return;
    driver_->done(static_cast<TaskId>(place - 1), static_cast<unsigned>(starpu_worker_get_id()));
    const std::lock_guard lock(mutex_);
    free_.push_back(static_cast<TaskId>(place - 1));
  }

 private:
  TaskId take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return kNoTask;
    const TaskId place = free_.back();
    free_.pop_back();
    return place;
  }
  void set_cost(TaskId place, WorkerId w, starpu_task* task) {
    const KindId kind = platform_.workers[w].kind;
    if (w > 0 && platform_.workers[w - 1U].kind == kind) return;  // workers of a kind lie together
    unsigned implementation = 0;
    double seconds = std::numeric_limits<double>::infinity();
    if (starpu_worker_can_execute_task_first_impl(w, task, &implementation) != 0) {
      starpu_perfmodel_arch* arch = starpu_worker_get_perf_archtype(w, task->sched_ctx);
      seconds = 1e-6 * starpu_task_expected_length(task, arch, implementation);
      if (!(seconds > 0) || !std::isfinite(seconds)) seconds = kUnknownSeconds;
    }
    costs_.set(place, kind, Seconds(seconds), CostSource::given);
  }

  Platform platform_;
  TaskGraph graph_;
  CostTable costs_;
  std::mutex mutex_;
  std::vector<TaskId> free_;
  CommonQueue common_;
  std::unique_ptr<TaskDriver> driver_;
};

struct Row {
  PlugInPolicy policy{};
  starpu_sched_policy hooks{};
  std::once_flag once;
  std::atomic<PlugIn*> state{nullptr};
};
Row rows[kMostPlugInPolicies];

/// Made when the first task comes: the workers are known by then.
PlugIn& state_of(Row& row) {
  std::call_once(row.once, [&] { row.state = new PlugIn(row.policy); });
  return *row.state;
}

void wake_all() {
#if !defined(STARPU_NON_BLOCKING_DRIVERS) || defined(STARPU_SIMGRID)
  for (unsigned w = 0; w < starpu_worker_get_count(); ++w)
    starpu_wake_worker_relax_light(static_cast<int>(w));
#endif
}

template <int Index>
struct Hooks {
  static void init(unsigned /*context*/) {}
  static void deinit(unsigned /*context*/) {
    delete rows[Index].state.exchange(nullptr);
    std::destroy_at(&rows[Index].once);
    std::construct_at(&rows[Index].once);
  }
  static int push(starpu_task* task) {
    state_of(rows[Index]).push(task);
    wake_all();
    return 0;
  }
  static starpu_task* pop(unsigned /*context*/) {
    PlugIn* state = rows[Index].state.load();
    return state == nullptr ? nullptr : state->pop(static_cast<unsigned>(starpu_worker_get_id()));
  }
  static void before(starpu_task* task, unsigned /*context*/) {
    if (PlugIn* state = rows[Index].state.load(); state != nullptr) state->started(task);
  }
  static void after(starpu_task* task, unsigned /*context*/) {
    if (PlugIn* state = rows[Index].state.load(); state != nullptr) state->done(task);
  }
  static void set(starpu_sched_policy& p) {
    p.init_sched = init;
    p.deinit_sched = deinit;
    p.push_task = push;
    p.pop_task = pop;
    p.pre_exec_hook = before;
    p.post_exec_hook = after;
  }
};

}  // namespace

starpu_sched_policy* plug_in_policy(int index, const PlugInPolicy& policy) {
  using Setter = void (*)(starpu_sched_policy&);
  constexpr Setter setters[kMostPlugInPolicies] = {Hooks<0>::set, Hooks<1>::set, Hooks<2>::set,
                                                   Hooks<3>::set};
  if (index < 0 || index >= kMostPlugInPolicies) throw InternalError("a plug-in has at most four policies");
  Row& row = rows[index];
  row.policy = policy;
  row.hooks = {};
  setters[index](row.hooks);
  row.hooks.policy_name = policy.name;
  row.hooks.policy_description = "an online policy of Espalier's";
  row.hooks.worker_type = STARPU_WORKER_LIST;
  return &row.hooks;
}

}  // namespace espalier::starpu
