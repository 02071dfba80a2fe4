#include "experiments/compare/what_if.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "experiments/compare/curves.hpp"
#include "experiments/run/real_scheduler.hpp"
#include "experiments/simulate/engines.hpp"
#include "schedulers/common/deadline.hpp"

namespace espalier {
namespace {

constexpr std::size_t kLeastTried = 4;

struct Candidate {
  Saving::What what;
  std::size_t index;  ///< group or link
  double chain = 0, all = 0;
};

/// Times of groups and links on the critical chain and at all.
std::vector<Candidate> candidates_of(const SchedulingProblem& problem, const GroupedGraph& grouped,
                                     const Trace& trace, const CriticalChain& chain) {
  const auto kind = grouped.layers ? Saving::What::layer : Saving::What::codelet;
  std::vector<Candidate> groups, links;
  for (std::size_t g = 0; g < grouped.names.size(); ++g) groups.push_back({kind, g});
  for (std::size_t l = 0; l < problem.platform.links.size(); ++l) links.push_back({Saving::What::link, l});
  const auto group = [&](std::uint32_t event) -> Candidate& {
    return groups[grouped.group_of[grouped.graph.task(trace.tasks[event].task).cost_class]];
  };
  for (std::uint32_t i = 0; i < trace.tasks.size(); ++i)
    group(i).all += trace.tasks[i].end - trace.tasks[i].start;
  for (const LinkUse& use : link_use(problem, trace)) links[use.link].all = use.busy * trace.makespan;
  for (const ChainLink& step : chain.links) {
    if (step.step == ChainStep::task) group(step.event).chain += step.end - step.start;
    if (step.step != ChainStep::transfer) continue;
    const TransferEvent& e = trace.transfers[step.event];
    for (const LinkId l : problem.platform.route(e.from, e.to)) links[l].chain += step.end - step.start;
  }
  groups.insert(groups.end(), links.begin(), links.end());
  std::erase_if(groups, [](const Candidate& c) { return c.all <= 0; });
  std::stable_sort(groups.begin(), groups.end(), [](const Candidate& a, const Candidate& b) {
    return a.chain != b.chain ? a.chain > b.chain : a.all > b.all;
  });
  return groups;
}

CostTable costs_of(const SchedulingProblem& problem, const GroupedGraph& grouped, std::size_t halved_group) {
  CostTable table(grouped.graph.classes.size(), problem.platform.kinds.size());
  for (CostClass c = 0; c < grouped.graph.classes.size(); ++c)
    for (KindId k = 0; k < problem.platform.kinds.size(); ++k) {
      const CostClass before = grouped.class_before[c];
      if (!problem.costs.can_run(before, k)) continue;
      const double factor = grouped.group_of[c] == halved_group ? 0.5 : 1;
      table.set(c, k, Seconds(factor * problem.costs.seconds(before, k)), problem.costs.source(before, k));
    }
  return table;
}

/// Routes keep the links, so the whole platform can be copied.
Platform with_link_halved(const Platform& platform, LinkId link) {
  Platform changed = platform;
  changed.links[link].bandwidth *= 2;
  changed.links[link].latency = changed.links[link].latency / 2;
  for (MemoryId a = 0; a < platform.memories.size(); ++a)
    for (MemoryId b = 0; b < platform.memories.size(); ++b)
      if (a != b && platform.has_route(a, b)) {
        const auto route = platform.route(a, b);
        if (std::find(route.begin(), route.end(), link) != route.end())
          changed.set_route(a, b, {route.begin(), route.end()});
      }
  return changed;
}

double makespan_of(const SchedulingProblem& problem, const SimulationResult& result) {
  SimulationOptions options;
  options.record_trace = false;
  if (!result.plan) {
    const std::string own = starpu_policy_of(result.scheduler);  // ours of that name stands for it
    return simulate_scheduler(problem, own.empty() ? result.scheduler : own, options).trace.makespan;
  }
  Plan plan = *result.plan;
  plan.graph_fingerprint = problem.graph.fingerprint();
  plan.platform_fingerprint = problem.platform.fingerprint();
  const starpu::PlanMode mode = plan_mode(scheduler_name(result.scheduler).hybrid);
  const double makespan = simulate_as_run(problem, plan, mode, options).makespan;
  if (plan.transfers.empty()) return makespan;
  plan.transfers.clear();  // their times are those of the plan's own machine
  return std::min(makespan, simulate_as_run(problem, plan, mode, options).makespan);
}

}  // namespace

GroupedGraph group_by_layer(const TaskGraph& graph) {
  GroupedGraph grouped;
  TaskGraphBuilder builder;
  builder.graph().name = graph.name;
  builder.graph().samples = graph.samples;
  builder.graph().unit_less = graph.unit_less;
  grouped.layers = !graph.layer_names.empty();
  std::map<std::string, std::size_t> index;
  std::map<std::pair<CostClass, std::size_t>, CostClass> classes;
  for (const std::string& name : graph.layer_names) builder.add_layer(name);
  for (DataId d = 0; d < graph.data_count(); ++d) builder.add_data(graph.data(d));
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    Task task = graph.task(t);
    const std::string& name =
        task.layer >= 0 ? graph.layer_names[static_cast<std::size_t>(task.layer)] : graph.class_of(t).codelet;
    const auto [group, new_group] = index.emplace(name, grouped.names.size());
    if (new_group) grouped.names.push_back(name);
    const std::pair key{task.cost_class, group->second};
    auto found = classes.find(key);
    if (found == classes.end()) {
      CostClassInfo info = graph.classes[task.cost_class];
      info.signature += fmt::format(" of group {}, class {}", group->second, task.cost_class);
      found = classes.emplace(key, builder.add_class(std::move(info))).first;
      grouped.class_before.push_back(task.cost_class);
      grouped.group_of.push_back(group->second);
    }
    task.cost_class = found->second;
    builder.add_task(task, graph.accesses(t));
    for (const TaskId p : graph.predecessors(t)) builder.add_dependency(p, t);
  }
  grouped.graph = builder.build();
  return grouped;
}

Savings what_would_help(const SchedulingProblem& problem, const SimulationResult& result,
                        const CriticalChain& chain, std::size_t operations, double seconds) {
  Savings savings;
  const std::string hybrid = scheduler_name(result.scheduler).hybrid;
  savings.how = !result.plan             ? "the policy decides anew"
                : hybrid.empty()         ? "allocation and order of the plan kept"
                : hybrid == "allocation" ? "allocation of the plan kept"
                : hybrid == "order"      ? "order of the plan kept"
                                         : "allocation and order of the plan kept as hints";
  const double makespan = result.trace.makespan;
  if (problem.graph.task_count() == 0 || makespan <= 0) return savings;
  const GroupedGraph grouped = group_by_layer(problem.graph);
  const std::vector<Candidate> candidates = candidates_of(problem, grouped, result.trace, chain);
  savings.candidates = candidates.size();
  const std::size_t count = std::min(
      candidates.size(), std::clamp<std::size_t>(operations / problem.graph.task_count(), kLeastTried, 40));
  const Deadline deadline(seconds);
  for (std::size_t i = 0; i < count && (i < kLeastTried || !deadline.passed()); ++i) {
    const Candidate& c = candidates[i];
    Saving s{c.what, {}, 0, 0, c.chain};
    if (c.what == Saving::What::link) {
      const Platform changed = with_link_halved(problem.platform, static_cast<LinkId>(c.index));
      s.name = problem.platform.links[c.index].name;
      s.makespan =
          makespan_of({problem.graph, changed, problem.costs, problem.seed, problem.time_limit}, result);
    } else {
      const CostTable changed = costs_of(problem, grouped, c.index);
      s.name = grouped.names[c.index];
      s.makespan =
          makespan_of({grouped.graph, problem.platform, changed, problem.seed, problem.time_limit}, result);
    }
    s.saved = 1 - s.makespan / makespan;
    savings.tried.push_back(std::move(s));
  }
  std::stable_sort(savings.tried.begin(), savings.tried.end(),
                   [](const Saving& a, const Saving& b) { return a.saved > b.saved; });
  return savings;
}

}  // namespace espalier
