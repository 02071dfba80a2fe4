#include "runtime/simgrid/simulate.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/simgrid/child_process.hpp"
#include "runtime/simgrid/starpu_order.hpp"

namespace espalier::simgrid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFetchingCost = "STARPU_SIMGRID_FETCHING_INPUT_COST";
constexpr double kSecondsAtLeast = 300, kSecondsPerTask = 0.1, kMostSeconds = 1e8;

/// What decides on machine, policy or output of StarPU and would win over what the job says.
std::vector<std::string> unwanted_variables() {
  return {"STARPU_SCHED",   "STARPU_NCPU",        "STARPU_NCUDA",      "STARPU_NOPENCL",   "STARPU_WORKERS_",
          "STARPU_RESERVE", "STARPU_HOSTNAME",    "STARPU_PERF_MODEL", "STARPU_CALIBRATE", "STARPU_BUS_",
          "STARPU_LIMIT_",  "STARPU_MAIN_THREAD", "STARPU_HOME",       "STARPU_PATH"};
}

/// One iteration of many on a machine whose kinds have their task overhead already: it was submitted while
/// the one before ran, buffers exist, so nothing is allocated or freed, and pushing, fetching and queueing
/// are part of the task's time. The user's own values win.
void leave_out_starpu_costs(std::map<std::string, std::string>& out) {
  for (const char* name :
       {"STARPU_SIMGRID_TASK_SUBMIT_COST", "STARPU_SIMGRID_TASK_PUSH_COST", kFetchingCost,
        "STARPU_SIMGRID_SCHED_COST", "STARPU_SIMGRID_CUDA_MALLOC_COST", "STARPU_SIMGRID_CUDA_QUEUE_COST",
        "STARPU_MINIMUM_CLEAN_BUFFERS", "STARPU_TARGET_CLEAN_BUFFERS"})
    if (std::getenv(name) == nullptr) out[name] = "0";
}

std::map<std::string, std::string> environment(const fs::path& sampling, const StarpuOrder& order,
                                               const Platform& platform) {
  std::map<std::string, std::string> out{{"STARPU_PERF_MODEL_DIR", sampling.string()},
                                         {"STARPU_HOSTNAME", kHost},
                                         {"STARPU_HOME", sampling.parent_path().string()},
                                         {"STARPU_SILENT", "1"},
                                         {"STARPU_CALIBRATE", "0"},
                                         {"STARPU_FXT_TRACE", "0"}};
  if (cores_differ(order)) out["STARPU_PERF_MODEL_HOMOGENEOUS_CPU"] = "0";
  if (!platform.starpu_costs) leave_out_starpu_costs(out);
  return out;
}

/// SimGrid ends the child when all its threads wait for each other. StarPU 1.3.10 loses a wake-up now and
/// then where none of its own steps takes time; the same job runs with the time that it gives to fetching.
bool stands_still(const ChildResult& child, const fs::path& outcome) {
  return child.exit_code == 0 && child.signal == 0 && !child.timed_out && !child.stopped &&
         !fs::exists(outcome);
}

/// The last lines of what the child wrote.
std::string last_words(const fs::path& log) {
  std::string text;
  try {
    text = read_file(log, std::size_t{64} << 20);
  } catch (const InputError&) {
    return {};
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t at = text.size();
  for (int lines = 0; lines < 6 && at != std::string::npos && at > 0; ++lines) at = text.rfind('\n', at - 1);
  if (at != std::string::npos && at > 0) text.erase(0, at + 1);
  if (text.size() > 2000) text.erase(0, text.size() - 2000);
  return text.empty() ? "it wrote nothing" : "its last lines:\n" + text;
}

[[noreturn]] void fail(const ChildResult& child, const fs::path& program, const fs::path& log,
                       double timeout) {
  if (child.timed_out)
    throw DeviceError(
        fmt::format("{} was stopped after {:.0f} s (ESPALIER_SIMGRID_TIMEOUT=SECONDS gives it more); {}",
                    program.string(), timeout, last_words(log)));
  if (child.signal != 0)
    throw DeviceError(
        fmt::format("{} crashed ({}); {}", program.string(), ::strsignal(child.signal), last_words(log)));
  throw DeviceError(
      fmt::format("{} ended with exit code {}; {}", program.string(), child.exit_code, last_words(log)));
}

double timeout_of(const SimulateOptions& options, std::size_t tasks) {
  if (options.timeout > 0) return options.timeout;
  if (const char* text = std::getenv("ESPALIER_SIMGRID_TIMEOUT"); text != nullptr && *text != '\0') {
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (*end != '\0' || !(seconds > 0 && seconds <= kMostSeconds))
      throw InputError(
          fmt::format("ESPALIER_SIMGRID_TIMEOUT={}: a number of seconds of more than 0, at most {}, "
                      "is needed",
                      text, kMostSeconds));
    return seconds;
  }
  return kSecondsAtLeast + kSecondsPerTask * static_cast<double>(tasks);
}

/// Back to the platform's workers and memories, with the times when tasks became ready.
Trace in_platform_order(Trace trace, const SchedulingProblem& problem, const StarpuOrder& order) {
  const std::size_t n = problem.graph.task_count();
  std::vector<double> end(n, 0);
  std::vector<char> seen(n, 0);
  for (const TaskEvent& e : trace.tasks) {
    if (e.task >= n || e.worker >= order.worker_of.size() || seen[e.task] != 0)
      throw InternalError("espalier-simgrid told of a task or worker that is not there");
    seen[e.task] = 1;
    end[e.task] = e.end;
  }
  if (trace.tasks.size() != n) throw InternalError("espalier-simgrid told of fewer tasks than there are");
  for (TaskEvent& e : trace.tasks) {
    e.ready = 0;
    for (const TaskId p : problem.graph.predecessors(e.task)) e.ready = std::max(e.ready, end[p]);
    e.ready = e.memory_ready = std::min(e.ready, e.start);
    e.data_ready = std::clamp(e.data_ready, e.ready, e.start);
    e.worker = order.worker_of[e.worker];
  }
  for (MovedBytes& m : trace.moved) {
    m.from = order.memory_of.at(m.from);
    m.to = order.memory_of.at(m.to);
  }
  std::vector<std::int64_t> peak(problem.platform.memories.size(), 0);
  for (std::size_t i = 0; i < std::min(trace.peak_memory.size(), order.memory_of.size()); ++i)
    peak[order.memory_of[i]] = trace.peak_memory[i];
  trace.peak_memory = std::move(peak);
  trace.engine = "simgrid";
  return trace;
}

}  // namespace

fs::path find_program() {
  if (const char* own = std::getenv("ESPALIER_SIMGRID"); own != nullptr && *own != '\0') {
    if (::access(own, X_OK) != 0)
      throw InputError(fmt::format("ESPALIER_SIMGRID={}: no program is there", own));
    return own;
  }
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate : {folder / "espalier-simgrid", folder.parent_path() / "espalier-simgrid"})
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  throw InputError(
      "engine simgrid: espalier-simgrid is not here. Build StarPU's SimGrid flavour with `espalier doctor "
      "--build "
      "simgrid` (some minutes, once), then Espalier again (cmake --preset release && cmake --build --preset "
      "release); or name the program in ESPALIER_SIMGRID");
}

Simulated simulate(const SchedulingProblem& problem, const Decision& decision,
                   const SimulateOptions& options) {
  const fs::path program = options.program.empty() ? find_program() : options.program;
  problem.costs.require_runnable(problem.graph, problem.platform);
  const StarpuOrder order = starpu_order(problem.platform);
  std::vector<MemoryId> homes;
  for (DataId d = 0; d < problem.graph.data_count(); ++d) homes.push_back(problem.graph.data(d).home);
  renumber_homes(homes, order, problem.platform);

  Job rest;
  rest.footprints = model_footprints(problem.graph);
  rest.cpus = order.cpus;
  rest.gpus = order.gpus;
  rest.decision = decision;
  for (Placement& p : rest.decision.placements)
    if (p.worker < order.number_of.size()) p.worker = order.number_of[p.worker];
  if (options.stop && options.stop()) throw Stopped(fmt::format("{} was stopped", program.string()));
  const TemporaryFolder folder;
  const fs::path sampling = folder.path() / "sampling", job = folder.path() / "job.json",
                 outcome = folder.path() / "outcome.json", log = folder.path() / "log";
  write_sampling(sampling, order, problem.graph, problem.costs, rest.footprints, options.bus);
  write_file(job,
             job_to_json({problem.graph, order.platform, problem.costs, problem.seed, problem.time_limit},
                         homes, rest));

  const double timeout = timeout_of(options, problem.graph.task_count());
  auto variables = environment(sampling, order, problem.platform);
  const auto run = [&] {
    return run_child(program, {job.string(), outcome.string()}, variables, unwanted_variables(), log, timeout,
                     options.stop);
  };
  ChildResult child = run();
  if (stands_still(child, outcome) && variables.erase(std::string(kFetchingCost)) > 0) child = run();
  if (child.stopped) throw Stopped(fmt::format("{} was stopped", program.string()));
  if (child.exit_code != 0 || child.signal != 0 || child.timed_out || !fs::exists(outcome))
    fail(child, program, log, timeout);
  Outcome result = outcome_from_json(read_file(outcome), program.string());
  if (!result.error.empty()) {
    if (result.wrong_input) throw InputError(result.error);
    throw DeviceError(fmt::format("{}: {}", program.string(), result.error));
  }
  return {in_platform_order(std::move(result.trace), problem, order), result.starpu_version};
}

}  // namespace espalier::simgrid
