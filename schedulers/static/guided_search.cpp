#include "schedulers/static/guided_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "schedulers/common/bounds.hpp"
#include "schedulers/common/deadline.hpp"
#include "schedulers/static/guided_list.hpp"

namespace espalier {
namespace {

constexpr double kHeat = 0.02;     ///< first threshold, share of the makespan
constexpr double kPromise = 0.04;  ///< an estimate so much above the state's is still run by the engine
/// On equal workers without data between them there are no places to choose from, only ranks.
constexpr std::int64_t kStepsAlike = 40;
constexpr int kSpread = 16;  ///< most places that a micro-batch graph is spread over at the start

class GuidedSearch {
 public:
  GuidedSearch(const SchedulingProblem& problem, Judge& judge)
      : problem_(problem), instance_(problem), judge_(judge), list_(instance_), random_(problem.seed) {
    const TaskGraph& graph = problem.graph;
    layers_ = graph.layer_names.size();
    for (std::size_t p = 0; p < list_.places().size(); ++p) speeds(static_cast<PlaceId>(p));
  }

  void run(double bound, std::int64_t steps, double seconds_limit) {
    const Deadline stop(seconds_limit);
    begin();
    if (state_.guide.weight.empty()) return;  // no schedule fits the memories
    for (; step_ < steps && judge_.makespan() > bound && !stop.passed(); ++step_) {
      const double left = std::min(1 - static_cast<double>(step_) / static_cast<double>(steps),
                                   stop.left() / std::max(seconds_limit, 1e-9));
      if (left < 0.4 && !returned_) {  // the last part goes on from the best
        returned_ = true;
        adopt(best_);
      }
      Guide next = state_.guide;
      change(next);
      consider(std::move(next), kHeat * left * left);
    }
  }

 private:
  struct State {
    Guide guide;
    double estimate = Instance::infinity(), makespan = Instance::infinity();
  };

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

  /// Tasks a second of all work, were it done by this place alone.
  void speeds(PlaceId p) {
    const Place& place = list_.places()[static_cast<std::size_t>(p)];
    double seconds = 0;
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const double time = instance_.seconds(t, place.workers[0]);
      if (time == Instance::infinity()) {
        speed_.push_back(0);
        return;
      }
      seconds += time;
    }
    speed_.push_back(seconds > 0 ? 1 / seconds : 0);  // a micro-batch runs on one worker at a time, mostly
  }

  /// Schedules; the engine runs what promises enough. True when it is the new state.
  bool consider(Guide guide, double heat) {
    const double limit = state_.estimate * (1 + kPromise + heat);
    const double estimate = list_.evaluate(guide, limit);
    if (estimate == Instance::infinity() || estimate > limit) return false;
    const double makespan = judge_.consider(list_.plan(guide, "guided_search"));
    if (!(makespan <= state_.makespan * (1 + heat)) || makespan == Instance::infinity()) return false;
    adopt({std::move(guide), estimate, makespan});
    return true;
  }

  void adopt(State state) {
    state_ = std::move(state);
    if (state_.makespan < best_.makespan) best_ = state_;
  }

  /// Starts: free choice with some weights of transfers; for networks also micro-batches in runs on the
  /// fastest places, few and many, whole ones or cut between layers so that all places have work for equally
  /// long. They are few and made whatever the limit. The state is the best of them.
  void begin() {
    const auto start = [&](const Guide& guide) {
      ++step_;
      State kept = state_;
      state_ = {};
      if (!consider(guide, 0) || !(state_.makespan < kept.makespan)) state_ = std::move(kept);
    };
    for (const double fetch : {0.0, 1.0, 3.0}) {
      Guide guide = list_.neutral();
      guide.fetch_weight = fetch;
      start(guide);
    }
    if (list_.micro_batches() < 2 || layers_ == 0) return;
    std::vector<std::size_t> order(list_.places().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return speed_[a] > speed_[b]; });
    for (std::size_t used = 1; used <= order.size() && used <= kSpread; ++used) {
      if (speed_[order[used - 1]] <= 0) break;
      const bool more = used < std::min<std::size_t>(order.size(), kSpread);
      if (used > 2 && more && speed_[order[used]] == speed_[order[used - 1]] && used % 4 != 0) continue;
      const std::span places = std::span(order).first(used);
      for (const double lead : {0.0, 0.5})
        for (const bool whole : {true, false}) {
          Guide guide = list_.neutral();
          if (whole)
            spread(guide, places);
          else
            cut(guide, places);
          for (std::size_t b = 0; b < guide.batch_lead.size(); ++b)
            guide.batch_lead[b] =
                -lead * static_cast<double>(b) / static_cast<double>(guide.batch_lead.size());
          start(guide);
        }
    }
  }

  /// Micro-batches in runs, as many on each place as let the slowest end first.
  void spread(Guide& guide, std::span<const std::size_t> places) {
    std::vector<std::size_t> count(places.size(), 0);
    for (std::size_t b = 0; b < list_.micro_batches(); ++b) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < places.size(); ++i)
        if (static_cast<double>(count[i] + 1) / speed_[places[i]] <
            static_cast<double>(count[best] + 1) / speed_[places[best]])
          best = i;
      ++count[best];
    }
    std::vector<PlaceId> of_batch;
    for (std::size_t i = 0; i < places.size(); ++i)
      of_batch.insert(of_batch.end(), count[i], static_cast<PlaceId>(places[i]));
    for (TaskId t = 0; t < instance_.tasks(); ++t)
      if (const std::int32_t b = problem_.graph.task(t).micro_batch; b >= 0)
        set(guide, t, of_batch[static_cast<std::size_t>(b)]);
  }

  /// Micro-batches in a row, layer by layer, cut into stretches of work in proportion to the places' speeds.
  void cut(Guide& guide, std::span<const std::size_t> places) {
    const TaskGraph& graph = problem_.graph;
    std::vector<double> before(layers_ + 1, 0);  // share of the work before a layer
    for (TaskId t = 0; t < instance_.tasks(); ++t)
      if (graph.task(t).micro_batch >= 0 && graph.task(t).layer >= 0)
        before[static_cast<std::size_t>(graph.task(t).layer) + 1] += instance_.least_seconds(t);
    std::partial_sum(before.begin(), before.end(), before.begin());
    if (before.back() <= 0) return;
    double total = 0;
    std::vector<double> until;  // share of all places' speed up to and with this one
    for (const std::size_t p : places) until.push_back(total += speed_[p]);
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const Task& task = graph.task(t);
      if (task.micro_batch < 0) continue;
      const std::size_t layer = task.layer < 0 ? layers_ - 1 : static_cast<std::size_t>(task.layer);
      const double at = task.micro_batch + (before[layer] + before[layer + 1]) / 2 / before.back();
      const double share = at / static_cast<double>(list_.micro_batches()) * total;
      const auto found = std::lower_bound(until.begin(), until.end() - 1, share);
      set(guide, t, static_cast<PlaceId>(places[static_cast<std::size_t>(found - until.begin())]));
    }
  }

  void set(Guide& guide, TaskId t, PlaceId p) const {
    if (p != kAnyPlace &&
        instance_.seconds(t, list_.places()[static_cast<std::size_t>(p)].workers[0]) == Instance::infinity())
      return;
    guide.place[t] = p;
  }

  void change(Guide& guide) {
    const bool network = layers_ > 0 && list_.micro_batches() > 0;
    const std::size_t kind = below(network ? 10 : 4);
    if (kind == 0) {
      guide.fetch_weight = std::max(0.0, guide.fetch_weight + 0.7 * normal());
      if (below(3) == 0) guide.planned_transfers = !guide.planned_transfers;
    } else if (kind == 1) {
      if (below(3) == 0 || guide.rank_weight.empty())
        guide.transfer_weight *= std::exp(0.5 * normal());
      else
        guide.rank_weight[below(guide.rank_weight.size())] *= std::exp(0.5 * normal());
    } else if (kind < 4) {
      const std::size_t times = 1 + below(3);
      for (std::size_t i = 0; i < times; ++i) weigh(guide);
    } else if (kind == 4) {
      guide.batch_lead[below(guide.batch_lead.size())] += 0.2 * normal();
    } else {
      move_block(guide);
    }
  }

  /// A kernel becomes dearer or cheaper on all places of one kind, or on one place.
  void weigh(Guide& guide) {
    const std::size_t places = list_.places().size(), kernel = below(list_.kernels()), p = below(places);
    const double factor = std::exp(0.4 * normal());
    const bool one = below(4) == 0;
    for (std::size_t q = 0; q < places; ++q)
      if (q == p || (!one && list_.places()[q].kind == list_.places()[p].kind))
        guide.weight[kernel * places + q] *= factor;
  }

  /// A run of layers, of one micro-batch, of all, or of what belongs to none, goes to one place or is set
  /// free.
  void move_block(Guide& guide) {
    const std::size_t batches = list_.micro_batches(), places = list_.places().size();
    const std::size_t who = below(8);
    std::size_t first = 0, last = layers_;  // the whole network
    if (below(4) != 0) {
      const double length = std::exp(-3.5 * uniform());
      const auto count =
          std::max<std::size_t>(1, static_cast<std::size_t>(length * static_cast<double>(layers_)));
      const std::size_t at = below(layers_ + count);
      first = at > count ? at - count : 0;
      last = std::min(at + 1, layers_);
    }
    const std::int32_t batch = who < 5 ? static_cast<std::int32_t>(below(batches)) : -1;
    const bool all = who == 5;
    PlaceId to = below(10) == 0 ? kAnyPlace : static_cast<PlaceId>(below(places));
    const bool halves = below(4) == 0;  // only the forward or only the backward pass
    const bool forward = below(2) == 0;
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const Task& task = problem_.graph.task(t);
      if (!all && task.micro_batch != batch) continue;
      if (task.layer < 0
              ? last != layers_
              : static_cast<std::size_t>(task.layer) < first || static_cast<std::size_t>(task.layer) >= last)
        continue;
      if (halves && batch >= 0 && is_backward(t) == forward) continue;
      set(guide, t, to);
    }
  }
  bool is_backward(TaskId t) const {
    return problem_.graph.class_of(t).codelet.find("backward") != std::string::npos;
  }

  const SchedulingProblem& problem_;
  const Instance instance_;
  Judge& judge_;
  GuidedList list_;
  std::mt19937_64 random_;
  std::size_t layers_ = 0;
  std::vector<double> speed_;
  State state_, best_;
  std::int64_t step_ = 0;
  bool returned_ = false;
};

class Guided final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const double bound = std::max(critical_path_bound(problem), area_bound(problem));
    Judge judge(problem);
    const double limit = problem.time_limit.value;
    search_guides(problem, judge, bound, guide_steps_within(problem, limit), limit);
    Plan plan = judge.best();
    plan.scheduler = "guided_search";
    return plan;
  }
};

}  // namespace

void search_guides(const SchedulingProblem& problem, Judge& judge, double bound, std::int64_t steps,
                   double seconds_limit) {
  if (problem.graph.task_count() > 0) GuidedSearch(problem, judge).run(bound, steps, seconds_limit);
}

std::int64_t guide_steps_within(const SchedulingProblem& problem, double seconds) {
  const double n = static_cast<double>(problem.graph.task_count()) + 20;
  const auto& workers = problem.platform.workers;
  const bool alike = std::all_of(workers.begin(), workers.end(), [&](const Worker& w) {
    return w.kind == workers[0].kind && (w.memory == workers[0].memory || problem.graph.data_count() == 0);
  });
  if (alike) return kStepsAlike;
  const double step = n * (1.2e-6 + 0.1e-6 * static_cast<double>(problem.platform.memories.size()));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds / step), 8, 200000);
}

std::unique_ptr<StaticScheduler> make_guided_search() {
  return std::make_unique<Guided>();
}

}  // namespace espalier
