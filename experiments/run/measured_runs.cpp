#include "experiments/run/measured_runs.hpp"

#include <algorithm>

namespace espalier {

MeasuredRuns measured_runs(starpu::NetworkSession& session, int warmup, int wanted) {
  MeasuredRuns result;
  std::vector<MeasuredRun> all;
  for (int i = 0; i < warmup && !result.interrupted; ++i) result.interrupted = session.run().interrupted;
  const auto most = static_cast<std::size_t>(wanted);
  std::size_t clean = 0;
  while (!result.interrupted && clean < most && all.size() < 2 * most) {
    const starpu::RunStatistics statistics = session.run();
    result.interrupted = statistics.interrupted;
    if (result.interrupted) break;
    all.push_back({statistics, session.trace()});
    if (!statistics.disturbed()) ++clean;
  }
  std::vector<double> taken;
  for (const MeasuredRun& m : all) taken.push_back(m.statistics.taken_by_others());
  std::sort(taken.begin(), taken.end());
  for (MeasuredRun& m : all) {
    if (result.kept.size() < most &&
        m.statistics.taken_by_others() <= taken[std::min(most, taken.size()) - 1])
      result.kept.push_back(std::move(m));
    else
      ++result.repeated;
  }
  for (const MeasuredRun& m : result.kept) result.disturbed += m.statistics.disturbed() ? 1 : 0;
  return result;
}

}  // namespace espalier
