#include "runtime/starpu/heteroprio_buckets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/starpu/starpu_detail.hpp"

#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION <= 3
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <starpu_heteroprio.h>
#pragma GCC diagnostic pop
#endif

namespace espalier::starpu {
namespace {

constexpr std::size_t kMost = 90;  ///< of STARPU_HETEROPRIO_MAX_PRIO = 100
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

HeteroprioBuckets::HeteroprioBuckets(const SchedulingProblem& problem) {
  const Platform& p = problem.platform;
  const std::size_t classes = problem.graph.classes.size();
  std::vector<Bucket> time(classes, {kNever, kNever});
  for (const Worker& w : p.workers) {
    const bool cpu = w.memory == 0;
    (cpu ? cpus_ : gpus_) = true;
    for (CostClass c = 0; c < classes; ++c) {
      double& best = cpu ? time[c].cpu : time[c].gpu;
      best = std::min(best, problem.costs.seconds(c, w.kind));
    }
  }
  std::vector<CostClass> order(classes);
  std::iota(order.begin(), order.end(), CostClass{0});
  // what only a GPU runs comes first, what only cores run last
  const auto acceleration = [&](CostClass c) {
    return std::isinf(time[c].gpu) ? -1.0 : std::isinf(time[c].cpu) ? kNever : time[c].cpu / time[c].gpu;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](CostClass a, CostClass b) { return acceleration(a) > acceleration(b); });
  bucket_of_.assign(classes, 0);
  const std::size_t each = (classes + kMost - 1) / kMost;
  for (std::size_t i = 0; i < classes; ++i) {
    // a bucket serves a kind only if all its classes run there
    const Bucket& t = time[order[i]];
    const bool alike = !buckets_.empty() && std::isinf(buckets_.back().cpu) == std::isinf(t.cpu) &&
                       std::isinf(buckets_.back().gpu) == std::isinf(t.gpu);
    if (i % std::max<std::size_t>(1, each) == 0 || !alike) buckets_.emplace_back();
    bucket_of_[order[i]] = static_cast<int>(buckets_.size()) - 1;
    buckets_.back().cpu += t.cpu;
    buckets_.back().gpu += t.gpu;
  }
}

void HeteroprioBuckets::tell(unsigned context) const {
#if STARPU_MAJOR_VERSION == 1 && STARPU_MINOR_VERSION <= 3
  const auto n = static_cast<unsigned>(buckets_.size());
  starpu_sched_ctx_set_min_priority(context, 0);
  starpu_sched_ctx_set_max_priority(context, static_cast<int>(n) - 1);
  unsigned gpu = 0, cpu = 0;
  for (unsigned b = 0; gpus_ && b < n; ++b)
    if (std::isfinite(buckets_[b].gpu)) starpu_heteroprio_set_mapping(context, STARPU_CUDA_IDX, gpu++, b);
  for (unsigned b = n; cpus_ && b-- > 0;)
    if (std::isfinite(buckets_[b].cpu)) starpu_heteroprio_set_mapping(context, STARPU_CPU_IDX, cpu++, b);
  starpu_heteroprio_set_nb_prios(context, STARPU_CUDA_IDX, gpu);
  starpu_heteroprio_set_nb_prios(context, STARPU_CPU_IDX, cpu);
  for (unsigned b = 0; b < n; ++b) {
    const Bucket& t = buckets_[b];
    if (!cpus_ || !gpus_ || std::isinf(t.cpu) || std::isinf(t.gpu)) continue;
    const bool gpu_faster = t.gpu < t.cpu;
    starpu_heteroprio_set_faster_arch(context, gpu_faster ? STARPU_CUDA_IDX : STARPU_CPU_IDX, b);
    starpu_heteroprio_set_arch_slow_factor(context, gpu_faster ? STARPU_CPU_IDX : STARPU_CUDA_IDX, b,
                                           static_cast<float>(gpu_faster ? t.cpu / t.gpu : t.gpu / t.cpu));
  }
#else
  static_cast<void>(context);
#endif
}

}  // namespace espalier::starpu
