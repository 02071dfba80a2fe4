#include "runtime/starpu/simulated_run.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "graphs/base/error.hpp"
#include "runtime/starpu/codelets.hpp"
#include "runtime/starpu/heteroprio_buckets.hpp"
#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/own_policy.hpp"
#include "runtime/starpu/plan_driver.hpp"
#include "runtime/starpu/planned_sends.hpp"
#include "runtime/starpu/simulated_data.hpp"
#include "runtime/starpu/starpu_check.hpp"
#include "runtime/starpu/starpu_info.hpp"

namespace espalier::starpu {
namespace {

using simgrid::Decision;
using simgrid::Job;

const Job* job_running = nullptr;  ///< for can_execute, which StarPU calls without more

int can_execute(unsigned worker, starpu_task* task, unsigned /*implementation*/) {
  const TaskBody* body = body_of(task);
  if (body == nullptr || job_running == nullptr) return 1;
  const KindId kind = job_running->platform.workers[worker].kind;
  return job_running->costs.can_run(job_running->graph.task(body->task()).cost_class, kind) ? 1 : 0;
}

/// For StarPU's start, which calls back without more; null: the policy needs nothing.
const HeteroprioBuckets* buckets_to_tell = nullptr;

[[maybe_unused]] void tell_buckets(unsigned context) {
  buckets_to_tell->tell(context);
}

class EmptyBody final : public TaskBody {
 public:
  using TaskBody::TaskBody;
  void run(void**, unsigned) noexcept override {}
};

void require_room(const Job& job) {
  const StarpuInfo info = starpu_info();
  const auto refuse = [&](unsigned wanted, const char* what, int limit, const char* variable) {
    throw InputError(
        fmt::format("platform {} has {} {}; this flavour of StarPU {} simulates at most {}: {}={} espalier "
                    "doctor --build "
                    "simgrid builds one for more, then build Espalier again",
                    job.platform.name, wanted, what, info.version, limit, variable, wanted));
  };
  if (!info.simgrid) throw InternalError("this StarPU is not its SimGrid flavour");
  if (job.gpus > static_cast<unsigned>(info.max_cuda_devices))
    refuse(job.gpus, "GPUs", info.max_cuda_devices, "ESPALIER_SIMGRID_GPUS");
  if (job.cpus + job.gpus > static_cast<unsigned>(info.max_cpus))
    refuse(job.cpus + job.gpus, "cores, with one for each GPU", info.max_cpus, "ESPALIER_SIMGRID_CPUS");
}

void require_policy(const std::string& name) {
  const auto names = available_policies();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw InputError(fmt::format("StarPU {} has no scheduling policy \"{}\"; it has {}",
                                 starpu_info().version, name, fmt::join(names, ", ")));
}

/// StarPU on the simulated machine, from init to shutdown.
class SimulatedMachine {
 public:
  explicit SimulatedMachine(const Job& job) {
    ::unsetenv("STARPU_SCHED");  // it would win over the policy asked for
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.precedence_over_environment_variables = 1;
    if (job.decision.kind == Decision::Kind::starpu)
      conf.sched_policy_name = job.decision.name.c_str();
    else
      conf.sched_policy = own_policy();
    conf.ncpus = static_cast<int>(job.cpus);
    conf.ncuda = static_cast<int>(job.gpus);
    conf.nopencl = 0;
    conf.catch_signals = 0;
#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION <= 3
    if (buckets_to_tell != nullptr) conf.sched_policy_init = tell_buckets;
#endif
    if (const int code = starpu_init(&conf); code != 0)
      throw DeviceError(fmt::format("StarPU-SimGrid does not start with {} cores and {} GPUs (code {})",
                                    job.cpus, job.gpus, code));
    require_order(job.platform);
    starpu_profiling_status_set(STARPU_PROFILING_ENABLE);
  }
  ~SimulatedMachine() {
    starpu_shutdown();
  }
  SimulatedMachine(const SimulatedMachine&) = delete;
  SimulatedMachine& operator=(const SimulatedMachine&) = delete;

 private:
  static void require_order(const Platform& p) {
    bool same = starpu_worker_get_count() == p.workers.size();
    for (unsigned w = 0; same && w < p.workers.size(); ++w)
      same = starpu_worker_get_memory_node(w) == p.workers[w].memory;
    if (!same) throw InternalError("StarPU numbers the workers in another way than the job does");
  }
};

class Run;
struct Record {
  Run* run;
  TaskId task;
  starpu_task* submitted;
};

class Run {
 public:
  Run(const Job& job, std::unique_ptr<OnlinePolicy> online)
      : job_(job), buckets_(make_buckets(job)), machine_(job), codelets_(can_execute), data_(job.graph) {
    job_running = &job_;
    make_driver(std::move(online));
    make_bodies();
    make_sends();
  }
  ~Run() {
    set_driver(nullptr);
    for (starpu_task* t : kept_) starpu_task_destroy(t);
    data_.unregister();
    job_running = nullptr;
    buckets_to_tell = nullptr;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Trace run() {
    if (driver_) {
      driver_->begin();
      set_driver(driver_.get());
    }
    reset_buses();
    origin_ = starpu_timing_now();
    if (sends_) sends_->begin();
    for (TaskId t = 0; t < job_.graph.task_count(); ++t) submit(t);
    data_.request_results();
    check(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    trace_.makespan = std::max(last_end_, (data_.wait_for_results() - origin_) * 1e-6);
    if (driver_ && driver_->error()) std::rethrow_exception(driver_->error());
    read_buses();
    std::sort(trace_.tasks.begin(), trace_.tasks.end(), [](const TaskEvent& a, const TaskEvent& b) {
      return a.end != b.end ? a.end < b.end : a.task < b.task;
    });
    trace_.peak_memory = peak_;
    return std::move(trace_);
  }

  /// Called when a task has ended, by the worker that ran it.
  void note(const Record& record) {
    data_.finished(record.task);
    const starpu_profiling_task_info* info = record.submitted->profiling_info;
    if (info == nullptr) return;
    const auto seconds = [&](const timespec& t) {
      return (starpu_timing_timespec_to_us(&const_cast<timespec&>(t)) - origin_) * 1e-6;
    };
    TaskEvent e{};
    e.task = record.task;
    e.worker = static_cast<WorkerId>(info->workerid);
    e.start = seconds(info->start_time);
    e.end = seconds(info->end_time);
    e.data_ready = std::min(std::max(0.0, seconds(info->acquire_data_end_time)), e.start);
    trace_.tasks.push_back(e);
    last_end_ = std::max(last_end_, e.end);
    if (sends_) sends_->finished(record.task);
    for (unsigned m = 1; m < peak_.size(); ++m) {
      const auto total = starpu_memory_get_total(m), left = starpu_memory_get_available(m);
      if (total > 0) peak_[m] = std::max<std::int64_t>(peak_[m], total - left);
    }
  }

 private:
  /// Not with a plan's order alone: who runs a task is open then.
  void make_sends() {
    const auto& placements = job_.decision.placements;
    if (placements.empty() || job_.decision.mode == "order") return;
    sends_.emplace(job_.graph, job_.platform, placements,
                   [this](DataId d, MemoryId there, int priority) { data_.send(d, there, priority); });
  }

  static std::unique_ptr<HeteroprioBuckets> make_buckets(const Job& job) {
    constexpr bool needs = STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION <= 3;
    if (!needs || job.decision.kind != Decision::Kind::starpu || job.decision.name != "heteroprio")
      return nullptr;
    auto buckets = std::make_unique<HeteroprioBuckets>(job.problem());
    buckets_to_tell = buckets.get();
    return buckets;
  }

  void make_driver(std::unique_ptr<OnlinePolicy> online) {
    const Decision& d = job_.decision;
    if (d.kind == Decision::Kind::starpu) return;
    if (online) {  // a policy of ours, or a plan's hints to one
      driver_ = make_online_driver(&job_, job_.problem(), std::move(online), d.name, &data_);
      return;
    }
    Plan plan;
    plan.scheduler = d.name;
    plan.placements = d.placements;
    const PlanMode mode = d.mode == "allocation" ? PlanMode::allocation
                          : d.mode == "order"    ? PlanMode::order
                          : d.mode == "both"     ? PlanMode::both
                                                 : PlanMode::strict;
    driver_ = make_plan_driver(&job_, job_.graph, std::move(plan), mode,
                               static_cast<unsigned>(job_.platform.workers.size()));
  }

  void make_bodies() {
    const TaskGraph& g = job_.graph;
    peak_.assign(job_.platform.memories.size(), 0);
    for (TaskId t = 0; t < g.task_count(); ++t) {
      bodies_.emplace_back(job_.footprints[g.task(t).cost_class], &job_, t);
      records_.push_back({this, t, nullptr});
    }
    for (const CostClassInfo& c : g.classes) codelet_of_.push_back(codelets_.get(c.codelet));
    critical_.assign(g.task_count(), 0);
    for (const TaskId t : job_.decision.critical) critical_[t] = 1;
    submitted_.assign(g.task_count(), nullptr);
    has_explicit_successor_.assign(g.task_count(), 0);
    for (TaskId t = 0; t < g.task_count(); ++t)
      for (const TaskId p : data_.explicit_predecessors(t)) has_explicit_successor_[p] = 1;
  }

  void submit(TaskId t) {
    const TaskGraph& g = job_.graph;
    starpu_task* task = starpu_task_create();
    task->cl = codelet_of_[g.task(t).cost_class];
    task->cl_arg = &bodies_[t];
    task->priority = priority(t);
    data_.give_accesses(t, task);
    records_[t].submitted = task;
    task->callback_func = [](void* record) {
      const auto& r = *static_cast<const Record*>(record);
      r.run->note(r);
    };
    task->callback_arg = &records_[t];
    if (has_explicit_successor_[t] != 0) {
      task->destroy = 0;
      kept_.push_back(task);
    }
    submitted_[t] = task;
    std::vector<starpu_task*> before;
    for (const TaskId p : data_.explicit_predecessors(t)) before.push_back(submitted_[p]);
    if (!before.empty())
      starpu_task_declare_deps_array(task, static_cast<unsigned>(before.size()), before.data());
    check(starpu_task_submit(task), "starpu_task_submit");
    data_.submitted(t);
  }

  /// Policies with few priorities get the greatest for tasks without slack and the default for all others, as
  /// StarPU's own examples do it.
  int priority(TaskId t) const {
    const int least = starpu_sched_get_min_priority(), most = starpu_sched_get_max_priority();
    if (buckets_) return buckets_->bucket_of(job_.graph.task(t).cost_class);
    if (least == INT_MIN && most == INT_MAX) return job_.graph.task(t).priority;
    return critical_[t] != 0 ? most : std::clamp(STARPU_DEFAULT_PRIO, least, most);
  }

  static void reset_buses() {
    starpu_profiling_bus_info info;
    for (int bus = 0; bus < starpu_bus_get_count(); ++bus) starpu_bus_get_profiling_info(bus, &info);
  }
  void read_buses() {
    for (int bus = 0; bus < starpu_bus_get_count(); ++bus) {
      starpu_profiling_bus_info info;
      if (starpu_bus_get_profiling_info(bus, &info) != 0 || info.transfer_count == 0) continue;
      trace_.moved.push_back(
          {static_cast<MemoryId>(starpu_bus_get_src(bus)), static_cast<MemoryId>(starpu_bus_get_dst(bus)),
           static_cast<double>(info.transferred_bytes), static_cast<std::uint64_t>(info.transfer_count)});
    }
  }

  const Job& job_;
  std::unique_ptr<HeteroprioBuckets> buckets_;  ///< null: the graph's priorities count
  SimulatedMachine machine_;
  CodeletTable codelets_;
  SimulatedData data_;
  std::unique_ptr<TaskDriver> driver_;
  std::deque<EmptyBody> bodies_;
  std::vector<Record> records_;
  std::vector<starpu_codelet*> codelet_of_;  ///< by cost class
  std::vector<starpu_task*> submitted_, kept_;
  std::vector<char> has_explicit_successor_, critical_;
  std::vector<std::int64_t> peak_;
  std::optional<PlannedSends> sends_;  ///< with a plan
  double origin_ = 0, last_end_ = 0;
  Trace trace_;
};

}  // namespace

simgrid::Outcome run_simulated(const Job& job, std::unique_ptr<OnlinePolicy> online) {
  require_room(job);
  if (job.decision.kind == Decision::Kind::starpu) require_policy(job.decision.name);
  simgrid::Outcome outcome;
  outcome.starpu_version = starpu_info().version;
  Run run(job, std::move(online));
  outcome.trace = run.run();
  outcome.trace.engine = "simgrid";
  return outcome;
}

}  // namespace espalier::starpu
