#include "experiments/validation/rank_agreement.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

int sign(double a, double b, double tie) {
  const double scale = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) <= tie * scale ? 0 : a < b ? -1 : 1;
}

}  // namespace

RankAgreement rank_agreement(std::span<const MeasuredValue> measured, std::span<const double> predicted,
                             double tie) {
  RankAgreement r;
  double sum = 0, in_measured = 0, in_predicted = 0;
  std::size_t concordant = 0;
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (std::size_t j = i + 1; j < measured.size(); ++j) {
      const int m = sign(measured[i].value, measured[j].value, tie);
      const int p = sign(predicted[i], predicted[j], tie);
      sum += m * p;
      in_measured += m != 0 ? 1 : 0;
      in_predicted += p != 0 ? 1 : 0;
      if (measured[i].high >= measured[j].low && measured[j].high >= measured[i].low) continue;
      ++r.pairs;
      if (m * p > 0) ++concordant;
      if (m * p < 0) ++r.discordant;
    }
  const double scale = std::sqrt(in_measured * in_predicted);
  r.tau = scale > 0 ? sum / scale : 1;
  r.tau_told_apart = r.pairs == 0 ? 1
                                  : (static_cast<double>(concordant) - static_cast<double>(r.discordant)) /
                                        static_cast<double>(r.pairs);
  return r;
}

}  // namespace espalier
