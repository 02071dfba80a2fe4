#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// A row of the scheduler list: exactly one of make_static and make_online is set.
struct SchedulerEntry {
  std::string_view name;        ///< algorithm and source: "heft_topcuoglu2002"
  std::string_view family;      ///< "static", "greedy", "hybrid", "steady_state"
  std::string_view summary;     ///< one line
  std::string_view source;      ///< paper and section, or documentation
  std::string_view complexity;  ///< "O(n log n + e p)": n tasks, e edges, p workers
  std::unique_ptr<StaticScheduler> (*make_static)() = nullptr;
  std::function<std::unique_ptr<OnlinePolicy>()> make_online = nullptr;
};

/// All schedulers of Espalier's own, in the order in which they are shown.
std::span<const SchedulerEntry> all_schedulers();
/// By name; `hybrid_allocation:NAME`, `hybrid_order:NAME` and `hybrid_both:NAME` are hybrids with the plan of
/// the static scheduler NAME. InputError listing the names when there is none. Thread-safe.
const SchedulerEntry& scheduler_named(std::string_view name);

}  // namespace espalier
