#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// StarPU on this machine. No header of this folder but starpu_detail.hpp includes starpu.h.
namespace espalier::starpu {

class CodeletTable;
class TaskDriver;

/// Chosen from measurements, see docs/decisions.
constexpr std::string_view kDefaultPolicy = "prio";

/// Espalier's own StarPU policy, which needs a TaskDriver (SessionOptions::driver).
constexpr std::string_view kOwnPolicy = "espalier";

struct MachineOptions {
  std::string policy{kDefaultPolicy};  ///< of StarPU's own, or kOwnPolicy
  unsigned cores = 0;                  ///< workers, one single-threaded worker a core; 0: every core
};

/// StarPU, initialised; at most one at a time in a process. Its workers sleep unless a Work object lives.
class Machine {
 public:
  /// InputError listing the policies when there is none of that name, and when there are fewer cores than
  /// asked for; DeviceError when StarPU does not start.
  explicit Machine(const MachineOptions& options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  unsigned workers() const { return workers_; }
  const std::string& policy() const { return policy_; }
  /// Why fewer workers run than the machine has cores; empty when all do.
  const std::string& limitation() const { return limitation_; }
  CodeletTable& codelets() { return *codelets_; }

  /// Runs a plain function on every worker's own thread, all at once.
  void on_each_worker(void (*function)(void*), void* argument);

  /// While it lives the workers look for tasks; without one they sleep and leave the cores to others.
  class Work {
   public:
    Work();
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
  };

  /// While it lives the driver (null: nobody) decides on its program's tasks. Destroyed, it releases the
  /// driver and waits for all tasks.
  class Drive {
   public:
    explicit Drive(TaskDriver* driver);
    ~Drive();
    Drive(const Drive&) = delete;
    Drive& operator=(const Drive&) = delete;
    /// TaskDriver::release().
    void release();

   private:
    TaskDriver* driver_;
  };

 private:
  unsigned workers_ = 0;
  std::string policy_, limitation_;
  std::unique_ptr<CodeletTable> codelets_;
};

/// Names of StarPU's own policies, in its order.
std::vector<std::string> available_policies();
/// The number of CPU workers that the library was compiled for.
unsigned library_core_limit();
/// Cores that this process may use.
unsigned machine_cores();

}  // namespace espalier::starpu
