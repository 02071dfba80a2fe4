#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/plan/plan.hpp"
#include "runtime/trace/trace.hpp"

/// Where the time of each worker went, from the trace alone. README.md has the rules.
namespace espalier {

/// Why a worker did not compute. The times of a worker's next task are ordered
/// ready <= memory_ready <= data_ready <= start; the gap before it is cut at these.
enum class LostCause : std::uint8_t {
  predecessor,    ///< its next task waited for a predecessor while others were ready
  data,           ///< its next task waited for inputs to arrive
  memory,         ///< its next task waited for room
  nothing_ready,  ///< no task that it could run was ready
  no_work,        ///< tasks were ready, but none was given to it any more
  overhead,       ///< the runtime's own cost of tasks, and starts later than everything was there
};
constexpr std::size_t kLostCauses = 6;
/// "waiting for a predecessor", ...
std::string_view name_of(LostCause cause);
/// "predecessor", "data", "memory", "nothing_ready", "no_work", "overhead".
std::string_view key_of(LostCause cause);

using LostTimes = std::array<double, kLostCauses>;

/// Seconds; busy and lost add up to the makespan (times the workers, where several are added).
struct WorkerTime {
  double busy = 0;
  LostTimes lost{};
  WorkerTime& operator+=(const WorkerTime& other);
  double total() const;
  LostCause largest() const;
};

struct IdleTime {
  std::vector<WorkerTime> by_worker;
  std::vector<LostTimes> before;  ///< by index into the trace's tasks: the gap before each
};

/// O(n log n) for n tasks, once for each set of kinds that can run the same classes.
IdleTime idle_time(const SchedulingProblem& problem, const Trace& trace);

/// Added up by kind of device.
std::vector<WorkerTime> by_kind(const Platform& platform, const IdleTime& idle);

}  // namespace espalier
