#include "schedulers/scheduler_list.hpp"

#include <fmt/format.h>
#include <string>

#include "graphs/base/error.hpp"
#include "schedulers/static/cpop_topcuoglu2002.hpp"
#include "schedulers/static/exact.hpp"
#include "schedulers/static/heft_topcuoglu2002.hpp"
#include "schedulers/static/local_search.hpp"
#include "schedulers/static/peft_arabnejad2014.hpp"

namespace espalier {

std::span<const SchedulerEntry> all_schedulers() {
  static const SchedulerEntry entries[] = {
      {"heft_topcuoglu2002", "static",
       "earliest finish in the order of upward ranks, with insertion into gaps",
       "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.1", "O(n log n + n p log n + e m)",
       make_heft_topcuoglu2002},
      {"cpop_topcuoglu2002", "static", "the critical path on the one worker that runs it fastest",
       "Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2", "O(n log n + n p log n + e m)",
       make_cpop_topcuoglu2002},
      {"peft_arabnejad2014", "static", "earliest finish plus the optimistic cost of all that follows",
       "Arabnejad, Barbosa, IEEE TPDS 25(3), 2014", "O(n p log n + e (g^2 + m))", make_peft_arabnejad2014},
      {"local_search", "static", "simulated annealing over (allocation, order) from the best list schedule",
       "Kirkpatrick, Gelatt, Vecchi, Science 220, 1983; Valls, Ballestin, Quintanilla, EJOR 165(2), 2005",
       "fixed steps of O(n p + e m) each", make_local_search},
      {"exact", "static", "branch and bound: proves optimality on small graphs, else gives its gap",
       "Fernandez, Bussell, IEEE ToC 22(8), 1973; Sinnen, Kozlov, Shahul, IASTED PDCN 2007",
       "exponential, cut by the time limit", make_exact},
  };
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
