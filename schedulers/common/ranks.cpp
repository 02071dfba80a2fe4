#include "schedulers/common/ranks.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace espalier {

std::vector<double> upward_ranks(const Instance& instance) {
  std::vector<double> rank(instance.tasks(), 0);
  for (TaskId t = static_cast<TaskId>(instance.tasks()); t-- > 0;) {
    double longest = 0;
    for (const auto& [s, bytes] : instance.outputs(t))
      longest = std::max(longest, instance.mean_transfer(bytes) + rank[s]);
    rank[t] = instance.mean_seconds(t) + longest;
  }
  return rank;
}

std::vector<double> downward_ranks(const Instance& instance) {
  std::vector<double> rank(instance.tasks(), 0);
  for (TaskId t = 0; t < instance.tasks(); ++t)
    for (const auto& [u, bytes] : instance.inputs(t))
      rank[t] = std::max(rank[t], rank[u] + instance.mean_seconds(u) + instance.mean_transfer(bytes));
  return rank;
}

std::vector<double> static_levels(const Instance& instance) {
  std::vector<double> level(instance.tasks(), 0);
  for (TaskId t = static_cast<TaskId>(instance.tasks()); t-- > 0;) {
    for (const auto& edge : instance.outputs(t)) level[t] = std::max(level[t], level[edge.task]);
    level[t] += instance.least_seconds(t);
  }
  return level;
}

std::vector<double> earliest_starts(const Instance& instance) {
  std::vector<double> start(instance.tasks(), 0);
  for (TaskId t = 0; t < instance.tasks(); ++t)
    for (const auto& edge : instance.inputs(t))
      start[t] = std::max(start[t], start[edge.task] + instance.least_seconds(edge.task));
  return start;
}

OptimisticCosts::OptimisticCosts(const Instance& instance) {
  std::map<std::pair<KindId, MemoryId>, std::uint16_t> known;
  std::vector<KindId> kind;
  std::vector<MemoryId> memory;
  std::vector<WorkerId> example;
  std::vector<double> weight;
  for (WorkerId w = 0; w < instance.workers(); ++w) {
    const auto [it, fresh] = known.try_emplace({instance.kind_of(w), instance.memory_of(w)},
                                               static_cast<std::uint16_t>(known.size()));
    if (fresh) {
      kind.push_back(instance.kind_of(w));
      memory.push_back(instance.memory_of(w));
      example.push_back(w);
      weight.push_back(0);
    }
    place_of_.push_back(it->second);
    weight[it->second] += 1;
  }
  places_ = known.size();
  table_.assign(instance.tasks() * places_, 0);
  rank_.assign(instance.tasks(), 0);
  std::vector<double> way(places_);
  for (TaskId t = static_cast<TaskId>(instance.tasks()); t-- > 0;) {
    double* row = table_.data() + t * places_;
    for (const auto& [s, bytes] : instance.outputs(t)) {
      const double transfer = instance.mean_remote_transfer(bytes);
      double anywhere = Instance::infinity();
      for (std::size_t q = 0; q < places_; ++q) {
        way[q] = table_[s * places_ + q] + instance.seconds(s, example[q]);
        anywhere = std::min(anywhere, way[q]);
      }
      for (std::size_t p = 0; p < places_; ++p) {
        double least = anywhere + transfer;
        for (std::size_t q = 0; q < places_; ++q)
          if (memory[q] == memory[p]) least = std::min(least, way[q]);
        row[p] = std::max(row[p], least);
      }
    }
    for (std::size_t p = 0; p < places_; ++p) rank_[t] += weight[p] * row[p];
    rank_[t] /= static_cast<double>(instance.workers());
  }
}

std::vector<TaskId> by_falling(const std::vector<double>& key) {
  std::vector<TaskId> order(key.size());
  std::iota(order.begin(), order.end(), TaskId{0});
  std::sort(order.begin(), order.end(),
            [&](TaskId a, TaskId b) { return key[a] != key[b] ? key[a] > key[b] : a < b; });
  return order;
}

}  // namespace espalier
