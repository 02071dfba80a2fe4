#include "schedulers/scheduler_list.hpp"

#include <fmt/format.h>
#include <string>

#include "graphs/base/error.hpp"
#include "schedulers/static/cpop_topcuoglu2002.hpp"
#include "schedulers/static/dual_hp.hpp"
#include "schedulers/static/etf_hwang1989.hpp"
#include "schedulers/static/exact.hpp"
#include "schedulers/static/heft_topcuoglu2002.hpp"
#include "schedulers/static/local_search.hpp"
#include "schedulers/static/lookahead_heft_bittencourt2010.hpp"
#include "schedulers/static/maxmin.hpp"
#include "schedulers/static/minmin.hpp"
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
      {"lookahead_heft_bittencourt2010", "static",
       "each task where the successors, placed after it, end soonest",
       "Bittencourt, Sakellariou, Madeira, PDP 2010", "O(n p log n + e p^2 log n + e p m)",
       make_lookahead_heft_bittencourt2010},
      {"minmin", "static", "always the ready task that can end first", "Ibarra, Kim, JACM 24(2), 1977",
       "O(n log n (p + log n) + e m)", make_minmin},
      {"maxmin", "static", "always the ready task whose least end is latest",
       "Ibarra, Kim, JACM 24(2), 1977; Braun et al., JPDC 61(6), 2001", "O(n r p + e m)", make_maxmin},
      {"etf_hwang1989", "static", "always the ready task and worker with the earliest start",
       "Hwang, Chow, Anger, Lee, SIAM J. Comput. 18(2), 1989", "O(n log n (p + log n) + e m)",
       make_etf_hwang1989},
      {"dual_hp", "static", "kinds by dual approximation of the areas, then HEFT inside the kinds",
       "Bleuse, Kedad-Sidhoum, Monna, Mounie, Trystram, CCPE 27(6), 2015", "O(b n k + n p log n + e m)",
       make_dual_hp},
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
