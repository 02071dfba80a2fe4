#include "experiments/workloads/listings.hpp"

#include <array>
#include <fmt/format.h>

#include "experiments/workloads/platform_choice.hpp"
#include "graphs/base/error.hpp"
#include "graphs/networks/network_list.hpp"
#include "layers/layer_list.hpp"
#include "runtime/platform/platform_source.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

Listing list_networks() {
  Listing listing{{"name", "image_size", "summary", "source"}, {}};
  for (const NetworkEntry& n : all_networks())
    listing.rows.push_back(
        {std::string(n.name), n.image_size, std::string(n.summary), std::string(n.source)});
  return listing;
}

Listing list_layers() {
  Listing listing{{"name", "implementations", "summary"}, {}};
  for (const Layer& layer : all_layers().all()) {
    std::vector<std::string> implementations;
    for (const Implementation& i : layer.implementations) implementations.emplace_back(i.name);
    listing.rows.push_back({std::string(layer.op), std::move(implementations), std::string(layer.summary)});
  }
  return listing;
}

Listing list_schedulers() {
  Listing listing{{"name", "family", "complexity", "summary", "source"}, {}};
  for (const SchedulerEntry& s : all_schedulers())
    listing.rows.push_back({std::string(s.name), std::string(s.family), std::string(s.complexity),
                            std::string(s.summary), std::string(s.source)});
  return listing;
}

Listing list_platforms() {
  Listing listing{{"name", "summary"}, {}};
  for (const NamedPlatform& p : named_platforms())
    listing.rows.push_back({std::string(p.name), platform_summary(p)});
  listing.rows.push_back(
      {std::string("identical:P"), std::string("P identical processors, joined pair by pair")});
  listing.rows.push_back({std::string("local"), std::string("this machine as hwloc sees it")});
  for (const ShippedMachine& m : shipped_machines())
    listing.rows.push_back({m.name, fmt::format("calibrated with StarPU, in {}", m.folder.string())});
  return listing;
}

constexpr std::array kKinds{
    ListedKind{"schedulers", list_schedulers},
    ListedKind{"networks", list_networks},
    ListedKind{"layers", list_layers},
    ListedKind{"platforms", list_platforms},
};

}  // namespace

std::span<const ListedKind> all_listed_kinds() {
  return kKinds;
}

Listing list_things(std::string_view kind) {
  std::string known;
  for (const ListedKind& k : kKinds) {
    if (k.name == kind) return k.list();
    known += fmt::format("{}{}", known.empty() ? "" : ", ", k.name);
  }
  throw InputError(fmt::format("{} cannot be listed; accepted are {}", kind, known));
}

}  // namespace espalier
