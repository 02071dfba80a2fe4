#include "runtime/perfmodel/fitted/all_reduce_costs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace espalier::fitted {
namespace {

constexpr double kDirectLink = 20e9;  // byte/s: NVLink, not PCIe 3.0
constexpr double kMemoryEfficiency = 0.5;

struct Reduction {
  double bytes = 0;
  int copies = 0;
};

/// "1024 bytes of 4 replicas".
std::optional<Reduction> reduction_of(const CostClassInfo& what) {
  Reduction r;
  if (what.codelet != "gradient_all_reduce" ||
      std::sscanf(what.signature.c_str(), "%lf bytes of %d replicas", &r.bytes, &r.copies) != 2 ||
      !(r.bytes >= 0 && r.bytes < 1e18) || r.copies < 1)
    return std::nullopt;
  return r;
}

}  // namespace

std::vector<WorkerId> gpus_of(const Platform& platform) {
  std::vector<WorkerId> gpus;
  for (std::size_t w = 0; w < platform.workers.size(); ++w)
    if (platform.kinds[platform.workers[w].kind].type == DeviceType::cuda && platform.workers[w].memory != 0)
      gpus.push_back(static_cast<WorkerId>(w));
  return gpus;
}

AllReduceCosts::AllReduceCosts(std::shared_ptr<const FittedModel> model, const Platform& platform)
    : model_(std::move(model)), platform_(platform), gpus_(gpus_of(platform)) {}

AllReduceCosts::Hop AllReduceCosts::slowest_hop(int n) const {
  std::map<LinkId, int> hops;
  const auto each = [&](auto visit) {
    for (int i = 0; i < n; ++i) {
      const MemoryId from = platform_.workers[gpus_[static_cast<std::size_t>(i)]].memory;
      const MemoryId to = platform_.workers[gpus_[static_cast<std::size_t>((i + 1) % n)]].memory;
      visit(platform_.route(from, to));
    }
  };
  each([&](std::span<const LinkId> route) {
    for (const LinkId l : route) ++hops[l];
  });
  Hop slowest{0, std::numeric_limits<double>::infinity()};
  each([&](std::span<const LinkId> route) {
    double latency = 0;
    for (const LinkId l : route) {
      const Link& link = platform_.links[l];
      latency += link.latency.value;
      slowest.bandwidth =
          std::min(slowest.bandwidth, link.shared ? link.bandwidth / hops[l] : link.bandwidth);
    }
    slowest.latency = std::max(slowest.latency, latency);
  });
  return slowest;
}

bool AllReduceCosts::linked(int n) const {
  const auto fast = [&](MemoryId from, MemoryId to) {
    if (from == to || !platform_.has_route(from, to)) return false;
    const auto route = platform_.route(from, to);
    return std::all_of(route.begin(), route.end(),
                       [&](LinkId l) { return platform_.links[l].bandwidth >= kDirectLink; });
  };
  const auto end = gpus_.begin() + n;
  return std::all_of(gpus_.begin(), end, [&](WorkerId a) {
    return std::any_of(gpus_.begin(), end, [&](WorkerId b) {
      return fast(platform_.workers[a].memory, platform_.workers[b].memory);
    });
  });
}

std::optional<CostModel::Estimate> AllReduceCosts::fitted_system(double bytes, int n) const {
  if (!model_) return std::nullopt;
  const KindId kind = platform_.workers[gpus_[0]].kind;
  for (const WorkerId w : gpus_)
    if (platform_.workers[w].kind != kind) return std::nullopt;
  const std::string& name = platform_.kinds[kind].name;
  const FittedAllReduce* nearest = nullptr;
  for (const FittedAllReduce& a : model_->all_reduces) {
    const std::string gpu = a.fit.system.substr(0, a.fit.system.find('_'));
    if (!name.starts_with(gpu) || (name.size() > gpu.size() && name[gpu.size()] != '-')) continue;
    if (nearest == nullptr || std::abs(a.fit.devices - n) < std::abs(nearest->fit.devices - n)) nearest = &a;
  }
  if (nearest == nullptr || !linked(n)) return std::nullopt;
  const bool same = nearest->fit.devices == n;
  CostBasis basis{
      same ? CostSource::fitted : CostSource::extrapolated,
      fmt::format("all-reduce of {}{}", nearest->fit.system, same ? "" : fmt::format(", for {}", n))};
  if (same) basis.error = nearest->error;
  return Estimate{Seconds(for_devices(nearest->fit, n).seconds(bytes)), std::move(basis)};
}

CostModel::Estimate AllReduceCosts::collective(double bytes, int n) const {
  if (auto measured = fitted_system(bytes, n)) return *std::move(measured);
  const Hop hop = slowest_hop(n);
  return Estimate{Seconds(2.0 * (n - 1) * (hop.latency + bytes / (n * hop.bandwidth))),
                  CostBasis{CostSource::roofline, "ring all-reduce over the platform's links"}};
}

bool AllReduceCosts::measured() const {
  return gpus_.size() >= 2 && fitted_system(1, static_cast<int>(gpus_.size())).has_value();
}

std::optional<CostModel::Estimate> AllReduceCosts::estimate(const CostClassInfo& what,
                                                            const DeviceKind& kind) const {
  const auto reduction = reduction_of(what);
  if (!reduction || gpus_.size() < 2) return std::nullopt;
  if (kind.type != DeviceType::cuda)
    return Estimate{Seconds(std::numeric_limits<double>::infinity()), CostSource::none};
  const int n = std::min(reduction->copies, static_cast<int>(gpus_.size()));
  if (n < 2) return std::nullopt;
  Estimate e = collective(reduction->bytes, n);
  if (kind.memory_bandwidth > 0)  // copies that share a GPU: two read, one written
    e.time += Seconds((static_cast<double>(reduction->copies) / n - 1) * 3 * reduction->bytes /
                      (kMemoryEfficiency * kind.memory_bandwidth));
  return e;
}

}  // namespace espalier::fitted
