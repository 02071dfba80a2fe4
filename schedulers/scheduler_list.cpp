#include "schedulers/scheduler_list.hpp"

#include <fmt/format.h>
#include <map>
#include <mutex>
#include <string>

#include "graphs/base/error.hpp"
#include "schedulers/greedy/greedy.hpp"
#include "schedulers/hybrid/hybrid.hpp"
#include "schedulers/static/best.hpp"
#include "schedulers/static/cpop_topcuoglu2002.hpp"
#include "schedulers/static/dual_hp.hpp"
#include "schedulers/static/etf_hwang1989.hpp"
#include "schedulers/static/exact.hpp"
#include "schedulers/static/guided_search.hpp"
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
      {"guided_search", "static",
       "list schedules with transfers in turn, weights and places found by seeded search on the model engine",
       "Espalier's own; Dueck, Scheuer, J. Comput. Phys. 90(1), 1990",
       "fixed steps of O(n log n + a m + n p) each", make_guided_search},
      {"local_search", "static", "simulated annealing over (allocation, order) from the best list schedule",
       "Kirkpatrick, Gelatt, Vecchi, Science 220, 1983; Valls, Ballestin, Quintanilla, EJOR 165(2), 2005",
       "fixed steps of O(n p + e m) each", make_local_search},
      {"exact", "static", "branch and bound: proves optimality on small graphs, else gives its gap",
       "Fernandez, Bussell, IEEE ToC 22(8), 1973; Sinnen, Kozlov, Shahul, IASTED PDCN 2007",
       "exponential, cut by the time limit", make_exact},
      {"eager", "greedy", "one queue for all workers, first come, first served", "StarPU's eager",
       "O(1) a task", nullptr, make_eager},
      {"prio", "greedy", "one queue for all workers, the greatest priority first", "StarPU's prio",
       "O(log n) a task", nullptr, make_prio},
      {"random", "greedy", "a worker drawn in proportion to its speed", "StarPU's random", "O(p) a task",
       nullptr, make_random},
      {"lws", "greedy", "tasks stay with the worker that made them ready; idle ones steal from the nearest",
       "StarPU's lws", "O(p + log n) a task", nullptr, make_lws},
      {"dm", "greedy", "the worker where the task is expected to end first", "StarPU's dm", "O(p) a task",
       nullptr, make_dm},
      {"dmda", "greedy", "as dm, with the time to fetch the inputs, which are prefetched", "StarPU's dmda",
       "O(p + a m^2) a task", nullptr, make_dmda},
      {"dmdas", "greedy", "as dmda, with queues by priority and by inputs at hand", "StarPU's dmdas",
       "O(p q + a m^2) a task", nullptr, make_dmdas},
      {"heteroprio", "greedy", "buckets by kind of task, each kind of device starts with what it does best",
       "StarPU's heteroprio; Agullo, Bramas, Coulaud, Darve, Messner, Takahashi, CCPE 28(9), 2016",
       "O(c + log n) a task", nullptr, make_heteroprio},
      {"affinity_eager", "greedy",
       "earliest end with data on their way and successors in mind, queues by upward rank, stealing",
       "Espalier's own; schedulers/greedy/README.md", "O(p q + a m^2) a task", nullptr, make_affinity_eager},
      {"hybrid_allocation", "hybrid", "dmdas on the devices that HEFT's plan gives each task",
       "Agullo, Beaumont, Eyraud-Dubois, Kumar, IPDPS 2016", "as HEFT and dmdas", nullptr,
       make_hybrid_allocation},
      {"hybrid_order", "hybrid", "dmdas with the order of HEFT's plan as priorities",
       "Agullo, Beaumont, Eyraud-Dubois, Kumar, IPDPS 2016", "as HEFT and dmdas", nullptr, make_hybrid_order},
      {"hybrid_both", "hybrid", "dmdas with devices and order of HEFT's plan",
       "Agullo, Beaumont, Eyraud-Dubois, Kumar, IPDPS 2016", "as HEFT and dmdas", nullptr, make_hybrid_both},
      {"best", "static", "portfolio of all others under the time limit, judged by the model engine",
       "schedulers/static/README.md", "sum of its members, cut by the time limit", make_best},
  };
  return entries;
}

namespace {

/// A hybrid with the plan of another scheduler than HEFT, made when it is first asked for.
const SchedulerEntry& hybrid_named(const SchedulerEntry& hybrid, std::string_view planner,
                                   std::string_view name) {
  const SchedulerEntry& plan = scheduler_named(planner);
  if (plan.make_static == nullptr)
    throw InputError(fmt::format(
        "{}: {} makes no plan; the name of a static scheduler is needed after the colon", name, plan.name));
  const bool allocation = hybrid.name != "hybrid_order", order = hybrid.name != "hybrid_allocation";
  static std::mutex mutex;
  static std::map<std::string, SchedulerEntry, std::less<>> made;
  const std::lock_guard lock(mutex);
  const auto [it, fresh] = made.try_emplace(std::string(name), hybrid);
  if (!fresh) return it->second;
  it->second.name = it->first;
  it->second.summary = "dmdas with hints from the plan of the scheduler after the colon";
  it->second.complexity = "as that scheduler and dmdas";
  it->second.make_online = [make = plan.make_static, allocation, order] {
    return make_hybrid(make, allocation, order);
  };
  return it->second;
}

}  // namespace

const SchedulerEntry& scheduler_named(std::string_view name) {
  std::string known;
  if (const std::size_t colon = name.find(':'); name.starts_with("hybrid_") && colon != name.npos)
    return hybrid_named(scheduler_named(name.substr(0, colon)), name.substr(colon + 1), name);
  for (const SchedulerEntry& entry : all_schedulers()) {
    if (entry.name == name) return entry;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw InputError(
      fmt::format("scheduler {} is not known; known are {}, and hybrid_allocation:NAME, hybrid_order:NAME "
                  "and hybrid_both:NAME "
                  "with a static one's name",
                  name, known));
}

}  // namespace espalier
