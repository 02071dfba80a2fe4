#include "schedulers/scheduler_list.hpp"

#include <fmt/format.h>
#include <string>

#include "graphs/base/error.hpp"

namespace espalier {

std::span<const SchedulerEntry> all_schedulers() {
  static const std::span<const SchedulerEntry> entries;
  return entries;
}

const SchedulerEntry& scheduler_named(std::string_view name) {
  std::string known;
  for (const SchedulerEntry& entry : all_schedulers()) {
    if (entry.name == name) return entry;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw InputError(fmt::format("scheduler {} is not known; known are {}", name, known));
}

}  // namespace espalier
