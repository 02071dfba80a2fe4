#include "runtime/task_graph/task_graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <queue>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::uint64_t kFnvOffset = 14695981039346656037ULL;
constexpr std::uint64_t kFnvPrime = 1099511628211ULL;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) hash = (hash ^ ((value >> (8 * i)) & 0xff)) * kFnvPrime;
  return hash;
}

std::uint64_t mix(std::uint64_t hash, const std::string& text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return mix(hash, text.size());
}

using Edges = std::vector<std::pair<TaskId, TaskId>>;

/// Offsets and targets of a sorted list of (from, to).
void to_compact(const Edges& edges, std::size_t n, std::vector<std::uint32_t>& begin,
                std::vector<TaskId>& target) {
  begin.assign(n + 1, 0);
  for (const auto& e : edges) ++begin[e.first + 1];
  for (std::size_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  target.resize(edges.size());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& e : edges) target[next[e.first]++] = e.second;
}

/// Follows predecessors inside the set of unplaced tasks until one repeats.
std::string describe_cycle(const Edges& edges, const std::vector<std::uint32_t>& missing,
                           const TaskGraph& graph) {
  std::vector<TaskId> before(missing.size(), kNoTask);
  for (const auto& [a, b] : edges)
    if (missing[a] != 0 && missing[b] != 0) before[b] = a;
  TaskId t = 0;
  while (before[t] == kNoTask) ++t;
  std::vector<char> seen(missing.size(), 0);
  while (seen[t] == 0) {
    seen[t] = 1;
    t = before[t];
  }
  std::vector<TaskId> cycle{t};
  for (TaskId u = before[t]; u != t; u = before[u]) cycle.push_back(u);
  std::reverse(cycle.begin(), cycle.end());
  std::string text;
  const std::size_t shown = std::min<std::size_t>(cycle.size(), 12);
  for (std::size_t i = 0; i < shown; ++i) text += graph.task_name(cycle[i]) + " -> ";
  if (shown < cycle.size()) text += fmt::format("... ({} more) -> ", cycle.size() - shown);
  return text + graph.task_name(cycle[0]);
}

}  // namespace

std::string TaskGraph::task_name(TaskId t) const {
  if (!task_names_.empty() && !task_names_[t].empty()) return task_names_[t];
  const Task& task = tasks_[t];
  if (task.layer >= 0)
    return task.micro_batch >= 0 ? fmt::format("{} #{}", layer_names[task.layer], task.micro_batch)
                                 : layer_names[task.layer];
  return fmt::format("{} {}", classes.empty() ? std::string("task") : class_of(t).codelet, t);
}

std::uint64_t TaskGraph::fingerprint() const {
  std::uint64_t hash = mix(kFnvOffset, tasks_.size());
  for (const CostClassInfo& c : classes) hash = mix(mix(hash, c.codelet), c.signature);
  for (const Task& t : tasks_) hash = mix(mix(hash, t.cost_class), static_cast<std::uint64_t>(t.micro_batch));
  for (const Access& a : accesses_)
    hash = mix(hash, (static_cast<std::uint64_t>(a.data) << 2) | static_cast<std::uint64_t>(a.mode));
  for (const DataInfo& d : data_) hash = mix(hash, static_cast<std::uint64_t>(d.size.value));
  for (const TaskId p : predecessors_) hash = mix(hash, p);
  return hash;
}

CostClass TaskGraphBuilder::add_class(CostClassInfo info) {
  const std::uint64_t hash = mix(mix(kFnvOffset, info.codelet), info.signature);
  if (info.footprint == 0) info.footprint = hash;
  const auto [first, last] = class_index_.equal_range(hash);
  for (auto i = first; i != last; ++i)
    if (graph_.classes[i->second].codelet == info.codelet &&
        graph_.classes[i->second].signature == info.signature)
      return i->second;
  const auto id = static_cast<CostClass>(graph_.classes.size());
  class_index_.emplace(hash, id);
  graph_.classes.push_back(std::move(info));
  return id;
}

DataId TaskGraphBuilder::add_data(DataInfo info) {
  graph_.data_.push_back(info);
  return static_cast<DataId>(graph_.data_.size() - 1);
}

TaskId TaskGraphBuilder::add_task(Task task, std::span<const Access> accesses, std::string task_name) {
  if (graph_.access_begin_.empty()) graph_.access_begin_.push_back(0);
  const auto id = static_cast<TaskId>(graph_.tasks_.size());
  graph_.tasks_.push_back(task);
  add_accesses(accesses);
  graph_.access_begin_.push_back(static_cast<std::uint32_t>(graph_.accesses_.size()));
  if (!task_name.empty()) {
    graph_.task_names_.resize(id);
    graph_.task_names_.push_back(std::move(task_name));
  }
  return id;
}

/// A datum that a task names twice becomes one access.
void TaskGraphBuilder::add_accesses(std::span<const Access> accesses) {
  constexpr std::size_t few = 32;
  auto& all = graph_.accesses_;
  const std::size_t begin = all.size();
  std::unordered_map<DataId, std::size_t> seen;
  for (const Access& a : accesses) {
    std::size_t at = begin;
    if (accesses.size() <= few) {
      while (at < all.size() && all[at].data != a.data) ++at;
    } else {
      at = seen.try_emplace(a.data, all.size()).first->second;
    }
    if (at == all.size())
      all.push_back(a);
    else
      all[at].mode = static_cast<AccessMode>(static_cast<int>(all[at].mode) | static_cast<int>(a.mode));
  }
}

void TaskGraphBuilder::add_dependency(TaskId before, TaskId after) {
  explicit_.emplace_back(before, after);
}

std::int32_t TaskGraphBuilder::add_layer(std::string layer_name) {
  graph_.layer_names.push_back(std::move(layer_name));
  return static_cast<std::int32_t>(graph_.layer_names.size() - 1);
}

TaskGraph TaskGraphBuilder::build() {
  const std::size_t n = graph_.tasks_.size();
  if (graph_.access_begin_.empty()) graph_.access_begin_.push_back(0);
  if (!graph_.task_names_.empty()) graph_.task_names_.resize(n);
  Edges edges = std::move(explicit_);
  for (const auto& [a, b] : edges)
    if (a >= n || b >= n) throw InternalError(fmt::format("dependency {} -> {} of {} tasks", a, b, n));
  struct History {
    TaskId writer = kNoTask;
    std::vector<TaskId> readers;
  };
  std::vector<History> history(graph_.data_.size());
  for (TaskId t = 0; t < n; ++t) {
    for (const Access& a : graph_.accesses(t)) {
      if (a.data >= history.size())
        throw InternalError(fmt::format("task {} accesses data {} of {}", t, a.data, history.size()));
      History& h = history[a.data];
      if (writes(a.mode)) {
        if (h.writer != kNoTask && h.writer != t && (reads(a.mode) || h.readers.empty()))
          edges.emplace_back(h.writer, t);
        for (const TaskId r : h.readers)
          if (r != t) edges.emplace_back(r, t);
        h.readers.clear();
        h.writer = t;
      } else {
        if (h.writer != kNoTask && h.writer != t) edges.emplace_back(h.writer, t);
        h.readers.push_back(t);
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  to_compact(edges, n, graph_.successor_begin_, graph_.successors_);

  const bool ordered =
      std::all_of(edges.begin(), edges.end(), [](const auto& e) { return e.first < e.second; });
  if (!ordered) {
    std::vector<std::uint32_t> missing(n, 0);
    for (const auto& e : edges) ++missing[e.second];
    std::priority_queue<TaskId, std::vector<TaskId>, std::greater<>> ready;
    for (TaskId t = 0; t < n; ++t)
      if (missing[t] == 0) ready.push(t);
    std::vector<TaskId> order;
    while (!ready.empty()) {
      const TaskId t = ready.top();
      ready.pop();
      order.push_back(t);
      for (const TaskId s : graph_.successors(t))
        if (--missing[s] == 0) ready.push(s);
    }
    if (order.size() < n)
      throw InputError(
          fmt::format("{}: the graph has a cycle: {}", graph_.name, describe_cycle(edges, missing, graph_)));
    std::vector<TaskId> position(n);
    for (TaskId i = 0; i < n; ++i) position[order[i]] = i;
    TaskGraph sorted;
    sorted.access_begin_.push_back(0);
    for (const TaskId t : order) {
      sorted.tasks_.push_back(graph_.tasks_[t]);
      const auto a = graph_.accesses(t);
      sorted.accesses_.insert(sorted.accesses_.end(), a.begin(), a.end());
      sorted.access_begin_.push_back(static_cast<std::uint32_t>(sorted.accesses_.size()));
      if (!graph_.task_names_.empty()) sorted.task_names_.push_back(graph_.task_names_[t]);
    }
    graph_.tasks_ = std::move(sorted.tasks_);
    graph_.accesses_ = std::move(sorted.accesses_);
    graph_.access_begin_ = std::move(sorted.access_begin_);
    graph_.task_names_ = std::move(sorted.task_names_);
    for (auto& e : edges) e = {position[e.first], position[e.second]};
    std::sort(edges.begin(), edges.end());
    to_compact(edges, n, graph_.successor_begin_, graph_.successors_);
  }
  for (auto& e : edges) std::swap(e.first, e.second);
  std::sort(edges.begin(), edges.end());
  to_compact(edges, n, graph_.predecessor_begin_, graph_.predecessors_);
  return std::move(graph_);
}

}  // namespace espalier
