#include "runtime/perfmodel/cost_table.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

std::string_view name_of(CostSource source) {
  switch (source) {
    case CostSource::given:
      return "given";
    case CostSource::measured_here:
      return "measured here";
    case CostSource::measured_elsewhere:
      return "measured elsewhere";
    case CostSource::fitted:
      return "fitted";
    case CostSource::extrapolated:
      return "extrapolated";
    case CostSource::roofline:
      return "roofline";
    case CostSource::none:
      return "none";
  }
  return "unknown";
}

CostTable::CostTable(std::size_t classes, std::size_t kinds)
    : kinds_(kinds),
      seconds_(classes * kinds, std::numeric_limits<double>::infinity()),
      basis_(classes * kinds, 0),
      bases_(1) {}

void CostTable::set(CostClass c, KindId k, Seconds time, const CostBasis& basis) {
  seconds_[c * kinds_ + k] = time.value;
  // a table has a few bases, and neighbours often share one
  const auto same = std::find_if(bases_.rbegin(), bases_.rend(), [&](const CostBasis& b) {
    return b.source == basis.source && b.text == basis.text &&
           (b.error == basis.error || (std::isnan(b.error) && std::isnan(basis.error)));
  });
  const bool is_new = same == bases_.rend();
  const auto index = is_new ? bases_.size() : static_cast<std::size_t>(bases_.rend() - same - 1);
  basis_[c * kinds_ + k] = static_cast<std::uint32_t>(index);
  if (is_new) bases_.push_back(basis);
}

void CostTable::require_runnable(const TaskGraph& graph, const Platform& platform) const {
  std::vector<char> runnable(graph.classes.size(), 0);
  for (CostClass c = 0; c < graph.classes.size(); ++c)
    runnable[c] = std::any_of(platform.workers.begin(), platform.workers.end(),
                              [&](const Worker& w) { return can_run(c, w.kind); });
  for (TaskId t = 0; t < graph.task_count(); ++t)
    if (runnable[graph.task(t).cost_class] == 0)
      throw InputError(fmt::format(
          "task {} ({}): no device of platform {} can run it: none has a cost for {} {}", graph.task_name(t),
          graph.class_of(t).codelet, platform.name, graph.class_of(t).codelet, graph.class_of(t).signature));
}

CostTable make_cost_table(const TaskGraph& graph, const Platform& platform,
                          std::span<const CostModel* const> models) {
  CostTable table(graph.classes.size(), platform.kinds.size());
  for (CostClass c = 0; c < graph.classes.size(); ++c)
    for (KindId k = 0; k < platform.kinds.size(); ++k)
      for (const CostModel* model : models)
        if (const auto e = model->estimate(graph.classes[c], platform.kinds[k])) {
          table.set(c, k, e->time, e->basis);
          break;
        }
  return table;
}

std::optional<CostModel::Estimate> RooflineModel::estimate(const CostClassInfo& what,
                                                           const DeviceKind& kind) const {
  if (kind.peak_flops <= 0 || kind.memory_bandwidth <= 0) return std::nullopt;
  const double compute = what.flops.value / (kind.peak_flops * efficiency_);
  const double memory = static_cast<double>(what.bytes.value) / (kind.memory_bandwidth * efficiency_);
  return Estimate{Seconds(std::max(compute, memory)), CostSource::roofline};
}

}  // namespace espalier
