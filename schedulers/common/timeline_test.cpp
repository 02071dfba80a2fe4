#include "schedulers/common/timeline.hpp"

#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

/// The same by looking at every busy interval.
double earliest_by_search(const std::vector<std::pair<double, double>>& busy, double ready, double duration) {
  double at = ready;
  for (const auto& [start, finish] : busy)
    if (at + duration > start && at < finish) at = std::max(at, finish);
  return at;
}

TEST(Timeline, FindsTheEarliestGapLikeAPlainSearch) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    Timeline timeline(1);
    std::vector<std::pair<double, double>> busy;
    for (int i = 0; i < 400; ++i) {
      const double ready = random() % 1500, duration = 1 + random() % 9;
      const double start = timeline.earliest(ready, duration);
      ASSERT_EQ(start, earliest_by_search(busy, ready, duration)) << "seed " << seed << ", task " << i;
      if (random() % 4 == 0) continue;
      timeline.occupy(start, start + duration);
      busy.insert(std::lower_bound(busy.begin(), busy.end(), std::pair{start, 0.0}),
                  {start, start + duration});
    }
  }
}

}  // namespace
}  // namespace espalier
