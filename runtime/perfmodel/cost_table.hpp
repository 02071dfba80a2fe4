#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/platform/platform.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier {

/// Where a cost comes from; a report says which share of the time rests on which.
enum class CostSource : std::uint8_t {
  given,
  measured_here,
  measured_elsewhere,
  fitted,
  extrapolated,
  roofline,
  none
};
std::string_view name_of(CostSource source);

/// What a cost rests on, and how far it can be trusted.
struct CostBasis {
  CostSource source = CostSource::none;
  std::string text;  ///< in words: "conv_forward of NV_V100/fp32"; may be empty
  /// Median relative error on what the source has not seen; NaN: not known.
  double error = std::numeric_limits<double>::quiet_NaN();
};

/// Time of each cost class on each kind of device: what schedulers and simulators read. Infinity: cannot run
/// there.
class CostTable {
 public:
  CostTable() = default;
  CostTable(std::size_t classes, std::size_t kinds);
  void set(CostClass c, KindId k, Seconds time, CostSource source) { set(c, k, time, CostBasis{source, {}}); }
  void set(CostClass c, KindId k, Seconds time, const CostBasis& basis);
  double seconds(CostClass c, KindId k) const { return seconds_[c * kinds_ + k]; }
  CostSource source(CostClass c, KindId k) const { return basis(c, k).source; }
  const CostBasis& basis(CostClass c, KindId k) const { return bases_[basis_[c * kinds_ + k]]; }
  bool can_run(CostClass c, KindId k) const { return std::isfinite(seconds(c, k)); }
  std::size_t kinds() const { return kinds_; }
  std::size_t classes() const { return kinds_ == 0 ? 0 : seconds_.size() / kinds_; }
  /// InputError naming the first task that no kind of the platform can run.
  void require_runnable(const TaskGraph& graph, const Platform& platform) const;

 private:
  std::size_t kinds_ = 0;
  std::vector<double> seconds_;
  std::vector<std::uint32_t> basis_;  ///< index into bases_
  std::vector<CostBasis> bases_;
};

/// A source of costs: measured files, fitted models, a roofline. Consulted in order by make_cost_table.
class CostModel {
 public:
  virtual ~CostModel() = default;
  struct Estimate {
    Seconds time;
    CostBasis basis;
    Estimate(Seconds seconds, CostSource source) : time(seconds), basis{source, {}} {}
    Estimate(Seconds seconds, CostBasis what) : time(seconds), basis(std::move(what)) {}
  };
  /// nullopt when it knows nothing of this codelet on this kind.
  virtual std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const = 0;
};

/// First model that answers wins; a class that nobody knows on a kind cannot run there.
CostTable make_cost_table(const TaskGraph& graph, const Platform& platform,
                          std::span<const CostModel* const> models);

/// max(flops / peak, bytes / bandwidth) with an efficiency; answers only where the kind's peaks are known.
class RooflineModel final : public CostModel {
 public:
  explicit RooflineModel(double efficiency = 0.5) : efficiency_(efficiency) {}
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;

 private:
  double efficiency_;
};

}  // namespace espalier
