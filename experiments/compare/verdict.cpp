#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "experiments/compare/comparison.hpp"

namespace espalier {
namespace {

/// A gap to the bound that needs no explanation.
constexpr double kClose = 0.01;

std::string percent(double share) {
  const double p = 100 * share;
  if (p > 0 && p < 0.05) return "less than 0.1 %";
  return p != 0 && p < 9.95 ? fmt::format("{:.1f} %", p) : fmt::format("{:.0f} %", p);
}

/// The kind of device that computes most of the winner's critical chain, weighted by its work.
KindId decisive_kind(const ComparisonCase& c) {
  const Platform& p = c.loaded->platform;
  KindId best = 0;
  double most = -1;
  std::vector<double> workers(p.kinds.size(), 0);
  for (const Worker& w : p.workers) workers[w.kind] += 1;
  for (KindId k = 0; k < p.kinds.size(); ++k) {
    if (workers[k] == 0) continue;
    const double busy = c.rows.front().kinds[k].busy / workers[k];  // of one worker: slow kinds are many
    if (busy > most) {
      most = busy;
      best = k;
    }
  }
  return best;
}

constexpr const char* kLosing[kLostCauses] = {"waiting for a predecessor", "waiting for data",
                                              "waiting for memory",        "with nothing ready",
                                              "without being given work",  "to the runtime's overhead"};

/// "12 % waiting for data and 3.0 % with nothing ready": shares of the kind's time, the largest two of at
/// least 0.5
/// %.
std::string losses(const WorkerTime& time) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kLostCauses; ++i)
    if (time.lost[i] > 0.005 * time.total()) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return time.lost[a] > time.lost[b]; });
  if (order.size() > 2) order.resize(2);
  std::vector<std::string> parts;
  for (const std::size_t i : order)
    parts.push_back(fmt::format("{} {}", percent(time.lost[i] / time.total()), kLosing[i]));
  return parts.empty() ? "almost nothing" : fmt::format("{}", fmt::join(parts, " and "));
}

std::string who_wins(const ComparisonCase& c) {
  const bool unit_less = c.loaded->workload.graph.unit_less;
  const double best = c.rows.front().summary.makespan;
  std::vector<std::string> equal;
  std::size_t next = 0;
  const auto rows = c.first_engine();
  for (; next < rows.size() && rows[next].summary.makespan <= best * (1 + 1e-9); ++next)
    equal.push_back(rows[next].scheduler);
  std::string text = equal.size() == 1 ? fmt::format("{} wins with {}", equal[0], show_time(best, unit_less))
                                       : fmt::format("{} and {} are first with the same {}",
                                                     fmt::join(equal.begin(), equal.end() - 1, ", "),
                                                     equal.back(), show_time(best, unit_less));
  if (next < rows.size()) {
    const ComparisonRow& second = rows[next];
    text += fmt::format("; {} takes {} ({} longer)", second.scheduler,
                        show_time(second.summary.makespan, unit_less),
                        percent(second.summary.makespan / best - 1));
    if (next + 1 < rows.size())
      text += fmt::format(", the last one, {}, {} longer", rows.back().scheduler,
                          percent(rows.back().summary.makespan / best - 1));
  }
  return text + ".";
}

std::string distance(const ComparisonCase& c) {
  const bool unit_less = c.loaded->workload.graph.unit_less;
  const ComparisonRow& first = c.rows.front();
  for (const ComparisonRow& row : c.rows)
    if (row.proven_optimal && row.summary.makespan <= first.summary.makespan * (1 + 1e-9))
      return fmt::format("{} has proved that no schedule is shorter.", row.scheduler);
  if (c.best_bound() <= 0) return "No lower bound above 0 is known.";
  return fmt::format("No schedule can take less than {} ({}); {} is {} above that.",
                     show_time(c.best_bound(), unit_less), c.best_bound_name(), first.scheduler,
                     percent(first.summary.gap));
}

/// Where the time between the bound and the winner went, in numbers: of the busiest kind of device for a
/// bound on work, of the critical chain for one on paths; and the link that is busiest.
std::string what_keeps_it_off(const ComparisonCase& c) {
  const bool unit_less = c.loaded->workload.graph.unit_less;
  const ComparisonRow& first = c.rows.front();
  const double makespan = first.summary.makespan, bound = c.best_bound();
  std::vector<std::string> parts;
  const auto add = [&](double seconds, const std::string& what) {
    if (seconds > 0.005 * makespan)
      parts.push_back(fmt::format("{} {}", show_time(seconds, unit_less), what));
  };
  const bool path = c.bounds.critical_path >= bound * (1 - 1e-9);
  std::string text = fmt::format("What keeps it off, {} in all: ", show_time(makespan - bound, unit_less));
  if (path) {
    add(first.chain.transfer_seconds, "of transfers on the critical chain");
    add(first.chain.wait_seconds, "of waits on it");
    add(first.chain.task_seconds - bound,
        "of computation on it beyond the longest path on the fastest devices");
  } else {
    const KindId k = decisive_kind(c);
    const double workers = first.kinds[k].total() / makespan;
    const std::string& kind = c.loaded->platform.kinds[k].name;
    std::vector<std::size_t> order(kLostCauses);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return first.kinds[k].lost[a] > first.kinds[k].lost[b];
    });
    text += fmt::format("for each {} worker ", kind);
    for (const std::size_t i : order) add(first.kinds[k].lost[i] / workers, kLosing[i]);
    add(first.kinds[k].busy / workers - bound, "of work that the bound shares out to others");
  }
  if (parts.empty()) return {};
  text += fmt::format("{}", fmt::join(parts, ", "));
  if (!first.links.empty() && first.links.front().busy > 0.2)
    text += fmt::format("; the busiest link, {}, carries data {} of the time",
                        c.loaded->platform.links[first.links.front().link].name,
                        percent(std::min(1.0, first.links.front().busy)));
  return text + ".";
}

std::string what_made_it(const ComparisonRow& row) {
  const double all = std::max(row.summary.makespan, 1e-300);
  return fmt::format(
      "The chain that makes its makespan is {} computation, {} transfers and {} waits, in {} steps.",
      percent(row.chain.task_seconds / all), percent(row.chain.transfer_seconds / all),
      percent(row.chain.wait_seconds / all), row.chain.links.size());
}

std::string why(const ComparisonCase& c) {
  const KindId k = decisive_kind(c);
  const std::string& kind = c.loaded->platform.kinds[k].name;
  const ComparisonRow& first = c.rows.front();
  const auto busy = [&](const ComparisonRow& r) {
    return r.kinds[k].total() > 0 ? r.kinds[k].busy / r.kinds[k].total() : 0;
  };
  std::string text = fmt::format("Under {} the {} workers compute {} of the time and lose {}",
                                 first.scheduler, kind, percent(busy(first)), losses(first.kinds[k]));
  const auto rows = c.first_engine();
  const auto second = std::find_if(rows.begin(), rows.end(), [&](const ComparisonRow& r) {
    return r.summary.makespan > first.summary.makespan * (1 + 1e-9);
  });
  if (second == rows.end()) return text + ".";
  return text + fmt::format("; under {} they compute {} and lose {}.", second->scheduler,
                            percent(busy(*second)), losses(second->kinds[k]));
}

std::string help(const ComparisonCase& c) {
  const Saving& s = c.savings.tried.front();
  const char* what = name_of(s.what);
  if (s.saved < 5e-4)
    return fmt::format(
        "Halving no single one of the {} layers and links tried shortens the winner's makespan.",
        c.savings.tried.size());
  return fmt::format("What would help most: {} {} in half the time would save {} of the makespan ({}).", what,
                     s.name, percent(s.saved), c.savings.how);
}

/// Each further engine against the first: error, order, and what the largest difference is made of.
std::string engines_agree(const ComparisonCase& c, const std::string& engine) {
  std::vector<double> errors;
  const EngineDifference* worst = nullptr;
  for (const EngineDifference& d : c.differences) {
    if (d.engine != engine) continue;
    errors.push_back(std::abs(d.relative));
    if (worst == nullptr || std::abs(d.relative) > std::abs(worst->relative)) worst = &d;
  }
  if (worst == nullptr) return {};
  std::sort(errors.begin(), errors.end());
  std::string text = fmt::format("Engine {} differs from {} by {} in the median", engine, worst->reference,
                                 percent(errors[errors.size() / 2]));
  const double tau = engine_order_kept(c, engine);
  if (std::isfinite(tau))
    text += fmt::format(" and keeps the order of the schedulers with a Kendall tau of {:.2f}", tau);
  return text +
         fmt::format("; most under {}, {:+.1f} %: {}.", worst->scheduler, 100 * worst->relative, worst->why);
}

}  // namespace

void judge(ComparisonCase& c) {
  c.verdict.clear();
  if (c.rows.empty()) return;
  c.verdict.push_back(who_wins(c));
  c.verdict.push_back(distance(c));
  if (c.best_bound() > 0 && c.rows.front().summary.gap > kClose && !c.rows.front().proven_optimal)
    if (std::string keeps = what_keeps_it_off(c); !keeps.empty()) c.verdict.push_back(std::move(keeps));
  c.verdict.push_back(what_made_it(c.rows.front()));
  c.verdict.push_back(why(c));
  if (!c.savings.tried.empty()) c.verdict.push_back(help(c));
  std::vector<std::string> engines;
  for (const EngineDifference& d : c.differences)
    if (std::find(engines.begin(), engines.end(), d.engine) == engines.end()) engines.push_back(d.engine);
  for (const std::string& e : engines) c.verdict.push_back(engines_agree(c, e));
}

}  // namespace espalier
