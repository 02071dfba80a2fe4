#include "runtime/starpu/history.hpp"

#include <cmath>
#include <memory>

#include "graphs/base/error.hpp"
#include "runtime/starpu/codelets.hpp"
#include "runtime/starpu/starpu_detail.hpp"

namespace espalier::starpu {
namespace {

constexpr int kCalibrated = 10;  // entries with fewer measurements count as not calibrated
constexpr int kMost = 3 * kCalibrated;
constexpr double kNear = 0.1;

class Nothing final : public TaskBody {
 public:
  using TaskBody::TaskBody;
  void run(void** /*buffers*/, unsigned /*worker*/) noexcept override {}
};

/// A task that is never submitted: StarPU's models are asked by task.
class Asked {
 public:
  Asked(Machine& machine, const std::string& codelet, std::uint64_t footprint)
      : body_(footprint), task_(starpu_task_create()) {
    task_->cl = machine.codelets().get(codelet);
    task_->cl_arg = &body_;
    task_->nbuffers = 0;
    task_->destroy = 0;
  }
  ~Asked() { starpu_task_destroy(task_); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  starpu_task* task() { return task_; }

 private:
  Nothing body_;
  starpu_task* task_;
};

starpu_perfmodel_arch* cpu_arch() {
  const int worker = starpu_worker_get_by_type(STARPU_CPU_WORKER, 0);
  if (worker < 0) throw DeviceError("StarPU has no CPU worker whose history could be read");
  return starpu_worker_get_perf_archtype(worker, STARPU_NMAX_SCHED_CTXS);
}

}  // namespace

void give_history(Machine& machine, std::span<const HistoryTime> times) {
  starpu_perfmodel_arch* arch = cpu_arch();
  for (const HistoryTime& t : times) {
    if (!(t.seconds > 0)) continue;
    Asked asked(machine, t.codelet, t.footprint);
    const double wanted = t.seconds * 1e6;
    for (int i = 0; i < kMost; ++i) {
      // an entry that is far off is forgotten after as many contradictions as it has measurements
      const double known = i % kCalibrated == 0 ? starpu_task_expected_length(asked.task(), arch, 0) : 0;
      if (known > 0 && std::abs(known / wanted - 1) < kNear) break;
      starpu_perfmodel_update_history(asked.task()->cl->model, asked.task(), arch, 0, 0, wanted);
    }
  }
}

std::optional<double> history_seconds(Machine& machine, const std::string& codelet, std::uint64_t footprint) {
  Asked asked(machine, codelet, footprint);
  const double microseconds = starpu_task_expected_length(asked.task(), cpu_arch(), 0);
  if (!std::isfinite(microseconds) || microseconds <= 0) return std::nullopt;
  return microseconds * 1e-6;
}

}  // namespace espalier::starpu
