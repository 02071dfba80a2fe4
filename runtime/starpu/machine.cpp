#include "runtime/starpu/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "runtime/starpu/codelets.hpp"
#include "runtime/starpu/own_policy.hpp"
#include "runtime/starpu/starpu_check.hpp"
#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/starpu/starpu_info.hpp"

namespace espalier::starpu {
namespace {

std::atomic<bool> running{false};

/// StarPU ends the process when it cannot write its sampling folder: give it one that it can.
void ensure_home() {
  if (std::getenv("STARPU_HOME") != nullptr || std::getenv("STARPU_PERF_MODEL_DIR") != nullptr) return;
  for (const char* name : {"XDG_CACHE_HOME", "HOME"}) {
    const char* folder = std::getenv(name);
    if (folder != nullptr && *folder != '\0' && ::access(folder, W_OK | X_OK) == 0) return;
  }
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("espalier-starpu-{}", static_cast<unsigned>(::getuid()));
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  ::setenv("STARPU_HOME", folder.c_str(), 1);
}

/// Kernels are sequential: oneDNN's OpenMP gets one thread on the thread that calls this. The function is
/// looked up because only the libraries below link OpenMP.
void one_openmp_thread(void* /*unused*/) {
  using SetThreads = void (*)(int);
  static const auto set = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(1);
}

starpu_conf configuration(const MachineOptions& options, unsigned cores) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.precedence_over_environment_variables = 1;
  if (options.policy == kOwnPolicy)
    conf.sched_policy = own_policy();
  else
    conf.sched_policy_name = options.policy.c_str();
  conf.ncpus = static_cast<int>(cores);
  conf.ncuda = 0;
  conf.nopencl = 0;
  conf.catch_signals = 0;
#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION <= 3
  conf.nmic = 0;
  conf.nmpi_ms = 0;
#else
  conf.nhip = 0;
  conf.nmpi_ms = 0;
#endif
  return conf;
}

}  // namespace

unsigned machine_cores() {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return 1;
  int cores = 0;
  if (hwloc_topology_load(topology) == 0) cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  hwloc_topology_destroy(topology);
  return cores > 0 ? static_cast<unsigned>(cores) : 1U;
}

unsigned library_core_limit() {
  return STARPU_MAXCPUS;
}

std::vector<std::string> available_policies() {
  std::vector<std::string> names;
  for (auto** p = starpu_sched_get_predefined_policies(); p != nullptr && *p != nullptr; ++p)
    if ((*p)->policy_name != nullptr) names.emplace_back((*p)->policy_name);
  return names;
}

Machine::Machine(const MachineOptions& options) : policy_(options.policy) {
  const auto names = available_policies();
  const bool own = options.policy == kOwnPolicy;
  if (!own && std::find(names.begin(), names.end(), options.policy) == names.end())
    throw InputError(fmt::format("StarPU {} has no scheduling policy \"{}\"; it has {}",
                                 starpu_info().version, options.policy, fmt::join(names, ", ")));
  const unsigned present = machine_cores(), limit = library_core_limit();
  if (options.cores > present)
    throw InputError(fmt::format("{} cores were asked for, this process may use {}", options.cores, present));
  const unsigned wanted = options.cores != 0 ? options.cores : present;
  if (wanted > limit)
    limitation_ = fmt::format(
        "StarPU {} is compiled for at most {} cores: {} of {} are used; espalier doctor "
        "says how to get a build for more",
        starpu_info().version, limit, limit, wanted);
  if (running.exchange(true)) throw InternalError("StarPU is initialised already");
  ::setenv("STARPU_SILENT", "1", 0);
  ::unsetenv("STARPU_SCHED");  // it would win over the policy asked for
  ensure_home();
  starpu_conf conf = configuration(options, std::min(wanted, limit));
  const int code = starpu_init(&conf);
  if (code != 0) {
    running = false;
    throw DeviceError(fmt::format("StarPU {} does not start with {} CPU workers (code {})",
                                  starpu_info().version, std::min(wanted, limit), code));
  }
  workers_ = starpu_cpu_worker_get_count();
  codelets_ = std::make_unique<CodeletTable>();
  one_openmp_thread(nullptr);
  on_each_worker(one_openmp_thread, nullptr);
  starpu_pause();
}

Machine::~Machine() {
  starpu_resume();
  starpu_task_wait_for_all();
  starpu_shutdown();
  codelets_.reset();  // StarPU writes its performance models at shutdown
  running = false;
}

void Machine::on_each_worker(void (*function)(void*), void* argument) {
  starpu_execute_on_each_worker(function, argument, STARPU_CPU);
}

Machine::Work::Work() {
  starpu_resume();
}

Machine::Work::~Work() {
  starpu_pause();
}

Machine::Drive::Drive(TaskDriver* driver) : driver_(driver) {
  if (driver_ == nullptr) return;
  driver_->begin();
  set_driver(driver_);
}

Machine::Drive::~Drive() {
  if (driver_ == nullptr) return;
  release();
  starpu_task_wait_for_all();
  set_driver(nullptr);
}

void Machine::Drive::release() {
  if (driver_ == nullptr) return;
  driver_->release();
  wake_workers();
}

}  // namespace espalier::starpu
