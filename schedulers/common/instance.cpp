#include "schedulers/common/instance.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// Latency and bandwidth of a route, or of the way through the host where there is no direct one: pipelined,
/// as the model engine moves data.
std::pair<double, double> lane_between(const Platform& platform, MemoryId from, MemoryId to) {
  const auto direct = [&](MemoryId a, MemoryId b) {
    std::pair<double, double> lane{0, Instance::infinity()};
    for (const LinkId l : platform.route(a, b)) {
      lane.first += platform.links[l].latency.value;
      lane.second = std::min(lane.second, platform.links[l].bandwidth);
    }
    return lane;
  };
  if (platform.has_route(from, to)) return direct(from, to);
  const auto up = direct(from, 0), down = direct(0, to);
  return {up.first + down.first, std::min(up.second, down.second)};
}

}  // namespace

Instance::Instance(const SchedulingProblem& problem)
    : problem_(&problem),
      tasks_(problem.graph.task_count()),
      kinds_(problem.platform.kinds.size()),
      memories_(problem.platform.memories.size()) {
  for (const Worker& w : problem.platform.workers) {
    worker_kind_.push_back(w.kind);
    worker_memory_.push_back(w.memory);
  }
  if (worker_kind_.empty())
    throw InputError(fmt::format("platform {}: it has no worker", problem.platform.name));
  read_costs();
  read_edges();
  read_lanes();
  read_working_sets();
  require_runnable();
}

void Instance::read_costs() {
  const TaskGraph& graph = problem_->graph;
  problem_->costs.require_runnable(graph, problem_->platform);
  task_class_.resize(tasks_);
  for (TaskId t = 0; t < tasks_; ++t) task_class_[t] = graph.task(t).cost_class;
  const std::size_t classes = graph.classes.size();
  costs_.resize(classes * kinds_);
  mean_cost_.assign(classes, 0);
  least_cost_.assign(classes, infinity());
  for (CostClass c = 0; c < classes; ++c) {
    for (KindId k = 0; k < kinds_; ++k) costs_[c * kinds_ + k] = problem_->costs.seconds(c, k);
    std::size_t able = 0;
    for (const KindId k : worker_kind_) {
      const double time = costs_[c * kinds_ + k];
      if (time == infinity()) continue;
      ++able;
      mean_cost_[c] += time;
      least_cost_[c] = std::min(least_cost_[c], time);
    }
    if (able > 0) mean_cost_[c] /= static_cast<double>(able);
  }
}

void Instance::read_edges() {
  const TaskGraph& graph = problem_->graph;
  input_begin_.assign(tasks_ + 1, 0);
  output_begin_.assign(tasks_ + 1, 0);
  home_begin_.assign(tasks_ + 1, 0);
  inputs_.reserve(graph.edge_count());
  std::vector<TaskId> writer(graph.data_count(), kNoTask);
  for (TaskId t = 0; t < tasks_; ++t) {
    const std::size_t first = inputs_.size();
    for (const TaskId u : graph.predecessors(t)) inputs_.push_back({u, 0});
    const auto mine = std::span(inputs_).subspan(first);
    for (const Access& a : graph.accesses(t)) {
      if (!reads(a.mode)) continue;
      const std::int64_t bytes = graph.data(a.data).size.value;
      const TaskId u = writer[a.data];
      if (u == kNoTask) {
        if (bytes > 0) home_reads_.push_back({bytes, graph.data(a.data).home});
        continue;
      }
      const auto edge = std::lower_bound(mine.begin(), mine.end(), u,
                                         [](const Edge& e, TaskId task) { return e.task < task; });
      if (edge != mine.end() && edge->task == u) edge->bytes += bytes;
    }
    for (const Access& a : graph.accesses(t))
      if (writes(a.mode)) writer[a.data] = t;
    input_begin_[t + 1] = static_cast<std::uint32_t>(inputs_.size());
    home_begin_[t + 1] = static_cast<std::uint32_t>(home_reads_.size());
    output_begin_[t + 1] = output_begin_[t] + static_cast<std::uint32_t>(graph.successors(t).size());
  }
  outputs_.resize(inputs_.size());
  std::vector<std::uint32_t> next(output_begin_.begin(), output_begin_.end() - 1);
  for (TaskId t = 0; t < tasks_; ++t)
    for (const Edge& e : inputs(t)) outputs_[next[e.task]++] = {t, e.bytes};
}

void Instance::read_lanes() {
  const Platform& platform = problem_->platform;
  lanes_.resize(memories_ * memories_);
  std::vector<double> workers_in(memories_, 0);
  for (const MemoryId m : worker_memory_) ++workers_in[m];
  double pairs = 0, remote_pairs = 0;
  for (const double count : workers_in) pairs += count * (static_cast<double>(worker_memory_.size()) - 1);
  Mean sum;
  for (MemoryId from = 0; from < memories_; ++from)
    for (MemoryId to = 0; to < memories_; ++to) {
      const bool between_workers = workers_in[from] > 0 && workers_in[to] > 0;
      if (from == to || !(between_workers || workers_in[to] > 0 || workers_in[from] > 0)) continue;
      Lane& lane = lanes_[from * memories_ + to];
      std::tie(lane.latency, lane.bandwidth) = lane_between(platform, from, to);
      const double weight = workers_in[from] * workers_in[to];
      remote_pairs += weight;
      sum.latency += weight * lane.latency;
      sum.seconds_per_byte += weight / lane.bandwidth;
    }
  if (pairs > 0) mean_ = {sum.latency / pairs, sum.seconds_per_byte / pairs};
  if (remote_pairs > 0) mean_remote_ = {sum.latency / remote_pairs, sum.seconds_per_byte / remote_pairs};
  const bool carries = std::any_of(inputs_.begin(), inputs_.end(), [](const Edge& e) { return e.bytes > 0; });
  has_transfers_ = remote_pairs > 0 && carries;
}

double Instance::least_remote_transfer(std::int64_t bytes) const {
  if (bytes == 0) return 0;
  double least = infinity();
  for (const MemoryId from : worker_memory_)
    for (const MemoryId to : worker_memory_)
      if (from != to) least = std::min(least, transfer(bytes, from, to));
  return least == infinity() ? 0 : least;
}

bool Instance::direct_is_fastest() const {
  std::vector<MemoryId> used = worker_memory_;
  used.push_back(0);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (const MemoryId a : used)
    for (const MemoryId b : used)
      for (const MemoryId c : used) {
        if (a == b || b == c || a == c) continue;
        const Lane &direct = lanes_[a * memories_ + c], &first = lanes_[a * memories_ + b],
                   &second = lanes_[b * memories_ + c];
        if (direct.latency > first.latency + second.latency ||
            1 / direct.bandwidth > 1 / first.bandwidth + 1 / second.bandwidth)
          return false;
      }
  return true;
}

void Instance::read_working_sets() {
  const auto& memories = problem_->platform.memories;
  const std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  if (std::all_of(memories.begin(), memories.end(),
                  [&](const Memory& m) { return m.capacity.value == unlimited; }))
    return;
  for (const Memory& m : memories) capacity_.push_back(m.capacity.value);
  const TaskGraph& graph = problem_->graph;
  working_set_.assign(tasks_, 0);
  std::vector<TaskId> counted(graph.data_count(), kNoTask);  // a task may access the same data twice
  for (TaskId t = 0; t < tasks_; ++t)
    for (const Access& a : graph.accesses(t)) {
      if (counted[a.data] == t) continue;
      counted[a.data] = t;
      working_set_[t] += graph.data(a.data).size.value;
    }
}

void Instance::require_runnable() const {
  if (working_set_.empty()) return;
  const Platform& platform = problem_->platform;
  for (TaskId t = 0; t < tasks_; ++t) {
    bool fits = false;
    MemoryId largest = 0;
    std::int64_t room = -1;
    for (WorkerId w = 0; w < workers(); ++w) {
      if (seconds_of_kind(t, kind_of(w)) == infinity()) continue;
      fits = fits || working_set_[t] <= capacity_[memory_of(w)];
      if (capacity_[memory_of(w)] > room) {
        room = capacity_[memory_of(w)];
        largest = memory_of(w);
      }
    }
    if (!fits)
      throw InputError(
          fmt::format("task {}: its data take {} bytes, but the largest memory of a worker that can run it, "
                      "{} of platform {}, has {}",
                      problem_->graph.task_name(t), working_set_[t], platform.memories[largest].name,
                      platform.name, room));
  }
}

double latest_finish(const Plan& plan) {
  double latest = 0;
  for (const Placement& p : plan.placements) latest = std::max(latest, p.finish);
  return latest;
}

}  // namespace espalier
