#include "experiments/compare/critical_chain.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace espalier {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr double kRelativeSlack = 1e-9;

class Walk {
 public:
  Walk(const SchedulingProblem& problem, const Trace& trace)
      : graph_(problem.graph),
        platform_(problem.platform),
        trace_(trace),
        slack_(kRelativeSlack * trace.makespan),
        event_of_(problem.graph.task_count(), kNone),
        before_(trace.tasks.size(), kNone) {
    for (std::uint32_t i = 0; i < trace.tasks.size(); ++i) event_of_[trace.tasks[i].task] = i;
    std::vector<std::uint32_t> order(trace.tasks.size()), last(platform_.workers.size(), kNone);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return trace.tasks[a].start < trace.tasks[b].start;
    });
    for (const std::uint32_t i : order) {
      before_[i] = last[trace.tasks[i].worker];
      last[trace.tasks[i].worker] = i;
    }
  }

  CriticalChain run() {
    Step step{false, last_task()};
    std::size_t left = trace_.tasks.size() + trace_.transfers.size();
    while (step.event != kNone && left-- > 0)
      step = step.transfer ? from_transfer(step.event) : from_task(step.event);
    if (!chain_.links.empty() && chain_.links.back().start > slack_) wait_until(chain_.links.back().start, 0);
    if (!chain_.links.empty()) chain_.links.back().start = 0;
    std::reverse(chain_.links.begin(), chain_.links.end());
    for (const ChainLink& l : chain_.links)
      (l.step == ChainStep::task       ? chain_.task_seconds
       : l.step == ChainStep::transfer ? chain_.transfer_seconds
                                       : chain_.wait_seconds) += l.end - l.start;
    return std::move(chain_);
  }

 private:
  struct Step {
    bool transfer;
    std::uint32_t event;  ///< kNone: the chain has reached the start
  };

  std::uint32_t last_task() const {
    std::uint32_t best = kNone;
    for (std::uint32_t i = 0; i < trace_.tasks.size(); ++i) {
      const TaskEvent& e = trace_.tasks[i];
      if (best == kNone || e.end > trace_.tasks[best].end ||
          (e.end == trace_.tasks[best].end && e.task < trace_.tasks[best].task))
        best = i;
    }
    return best;
  }
  bool same(double a, double b) const { return a - b <= slack_ && b - a <= slack_; }
  MemoryId memory_of(const TaskEvent& e) const { return platform_.workers[e.worker].memory; }

  /// The first transfer that ends at `time` and is accepted.
  template <class F>
  std::uint32_t transfer_ending(double time, F&& accept) const {
    auto i = std::lower_bound(trace_.transfers.begin(), trace_.transfers.end(), time - slack_,
                              [](const TransferEvent& e, double t) { return e.end < t; });
    for (; i != trace_.transfers.end() && i->end <= time + slack_; ++i)
      if (accept(*i)) return static_cast<std::uint32_t>(i - trace_.transfers.begin());
    return kNone;
  }
  template <class F>
  std::uint32_t task_ending(double time, F&& accept) const {
    auto i = std::lower_bound(trace_.tasks.begin(), trace_.tasks.end(), time - slack_,
                              [](const TaskEvent& e, double t) { return e.end < t; });
    for (; i != trace_.tasks.end() && i->end <= time + slack_; ++i)
      if (accept(*i)) return static_cast<std::uint32_t>(i - trace_.tasks.begin());
    return kNone;
  }
  /// The predecessor that ended last, of those that write `only`, if set.
  std::uint32_t last_predecessor(TaskId task, std::optional<DataId> only = {}) const {
    std::uint32_t best = kNone;
    for (const TaskId p : graph_.predecessors(task)) {
      if (event_of_[p] == kNone) continue;
      if (only) {
        const auto accesses = graph_.accesses(p);
        if (std::none_of(accesses.begin(), accesses.end(),
                         [&](const Access& a) { return a.data == *only && writes(a.mode); }))
          continue;
      }
      if (best == kNone || trace_.tasks[event_of_[p]].end > trace_.tasks[best].end) best = event_of_[p];
    }
    return best;
  }

  void add(ChainStep step, std::uint32_t event, double start, double end) {
    chain_.links.push_back({step, ChainReason::begin, event, start, end});
  }
  /// Names what the step added last came after; where that ended earlier, a wait stands between them.
  Step after(ChainReason reason, bool transfer, std::uint32_t event) {
    const double end = transfer ? trace_.transfers[event].end : trace_.tasks[event].end;
    const double start = chain_.links.back().start;
    if (same(start, end) || end > start) {
      chain_.links.back().after = reason;
      chain_.links.back().start = std::max(start, std::min(end, chain_.links.back().end));
    } else {
      wait_until(start, end);
      chain_.links.back().after = reason;
    }
    return {transfer, event};
  }
  /// Before a transfer, the task that it feeds tells what is waited for.
  void wait_until(double end, double start) {
    const ChainLink& next = chain_.links.back();
    const std::uint32_t event = next.step == ChainStep::transfer ? event_of_[current_] : next.event;
    chain_.links.back().after = ChainReason::decision;
    add(ChainStep::wait, event, start, end);
  }

  Step from_task(std::uint32_t i) {
    const TaskEvent& e = trace_.tasks[i];
    add(ChainStep::task, i, e.start, e.end);
    current_ = e.task;
    if (e.start <= slack_) return {false, kNone};
    const std::uint32_t worker = before_[i], predecessor = last_predecessor(e.task);
    const double free = worker == kNone ? 0 : trace_.tasks[worker].end;
    const double earliest = std::max(free, predecessor == kNone ? 0 : trace_.tasks[predecessor].end) + slack_;
    if (e.data_ready > earliest && same(e.data_ready, e.start)) {
      const auto accesses = graph_.accesses(e.task);
      const std::uint32_t t = transfer_ending(e.data_ready, [&](const TransferEvent& x) {
        return x.to == memory_of(e) && std::any_of(accesses.begin(), accesses.end(), [&](const Access& a) {
                 return a.data == x.data && reads(a.mode);
               });
      });
      if (t != kNone) return after(ChainReason::data, true, t);
    }
    if (e.memory_ready > earliest) {
      const std::uint32_t t = transfer_ending(
          e.memory_ready, [&](const TransferEvent& x) { return x.eviction && x.from == memory_of(e); });
      if (t != kNone) return after(ChainReason::room, true, t);
      const std::uint32_t other = task_ending(e.memory_ready, [&](const TaskEvent& x) {
        return memory_of(x) == memory_of(e) && x.end <= e.start;
      });
      if (other != kNone && other != i) return after(ChainReason::room, false, other);
    }
    if (predecessor != kNone && trace_.tasks[predecessor].end >= free - slack_)
      return after(ChainReason::predecessor, false, predecessor);
    if (worker != kNone) return after(ChainReason::worker, false, worker);
    return {false, kNone};
  }

  Step from_transfer(std::uint32_t i) {
    const TransferEvent& x = trace_.transfers[i];
    add(ChainStep::transfer, i, x.start, x.end);
    if (x.start <= slack_) return {false, kNone};
    const std::uint32_t producer = last_predecessor(current_, x.data);
    if (producer != kNone && same(trace_.tasks[producer].end, x.start))
      return after(ChainReason::predecessor, false, producer);
    const std::uint32_t queue = transfer_ending(x.start, [&](const TransferEvent& y) {
      return &y != &x && y.start < x.start &&
             ((y.from == x.from && y.to == x.to) || (y.data == x.data && y.to == x.from));
    });
    if (queue != kNone) return after(ChainReason::copy_queue, true, queue);
    std::uint32_t caller = task_ending(x.start, [&](const TaskEvent& e) { return memory_of(e) == x.to; });
    if (caller == kNone) caller = task_ending(x.start, [](const TaskEvent&) { return true; });
    if (caller != kNone) return after(ChainReason::decision, false, caller);
    if (producer != kNone && trace_.tasks[producer].end < x.start)
      return after(ChainReason::predecessor, false, producer);
    return {false, kNone};
  }

  const TaskGraph& graph_;
  const Platform& platform_;
  const Trace& trace_;
  double slack_;
  std::vector<std::uint32_t> event_of_;  ///< by task
  std::vector<std::uint32_t> before_;    ///< the event before it on its worker
  TaskId current_ = 0;                   ///< the task that the chain's transfers feed
  CriticalChain chain_;
};

}  // namespace

std::string_view name_of(ChainReason reason) {
  constexpr std::string_view names[] = {
      "at the start of the run",        "after a predecessor",      "after the task before it on the worker",
      "after its data arrived",         "after the copy before it", "after room was made",
      "when the scheduler asked for it"};
  return names[static_cast<std::size_t>(reason)];
}

CriticalChain critical_chain(const SchedulingProblem& problem, const Trace& trace) {
  return Walk(problem, trace).run();
}

}  // namespace espalier
