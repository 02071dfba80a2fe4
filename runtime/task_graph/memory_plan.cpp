#include "runtime/task_graph/memory_plan.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {
namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t round_up(std::int64_t n) {
  return (n + kAlignment - 1) / kAlignment * kAlignment;
}

/// Indices by size, the largest first; ties by index.
template <class Values>
std::vector<std::uint32_t> by_size(const Values& values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return values[a].bytes > values[b].bytes; });
  return order;
}

bool runs_before(const SharedValue& a, const SharedValue& b, const Reachability& order) {
  const auto before_all = [&](std::int32_t user) {
    return std::all_of(b.producers.begin(), b.producers.end(),
                       [&](std::int32_t p) { return order.before(user, p); });
  };
  return std::all_of(a.producers.begin(), a.producers.end(), before_all) &&
         std::all_of(a.readers.begin(), a.readers.end(), before_all);
}

}  // namespace

OffsetPlan plan_offsets(std::span<const Lifetime> values) {
  OffsetPlan plan;
  plan.offsets.assign(values.size(), 0);
  std::vector<std::uint32_t> placed;  // by offset
  for (const std::uint32_t v : by_size(values)) {
    const std::int64_t need = round_up(std::max<std::int64_t>(values[v].bytes, 1));
    std::int64_t best = -1, best_gap = 0, end = 0;
    for (const std::uint32_t p : placed) {
      if (values[p].last < values[v].first || values[v].last < values[p].first) continue;
      const std::int64_t gap = plan.offsets[p] - end;
      if (gap >= need && (best < 0 || gap < best_gap)) {
        best = end;
        best_gap = gap;
      }
      end = std::max(end, plan.offsets[p] + round_up(std::max<std::int64_t>(values[p].bytes, 1)));
    }
    plan.offsets[v] = best >= 0 ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[v] + need);
    const auto at = std::upper_bound(placed.begin(), placed.end(), v, [&](std::uint32_t a, std::uint32_t b) {
      return plan.offsets[a] < plan.offsets[b];
    });
    placed.insert(at, v);
  }
  return plan;
}

Reachability::Reachability(const std::vector<std::vector<std::int32_t>>& predecessors)
    : words_((predecessors.size() + 63) / 64), bits_(words_ * predecessors.size(), 0) {
  for (std::size_t s = 0; s < predecessors.size(); ++s)
    for (const std::int32_t p : predecessors[s]) {
      const auto from = static_cast<std::size_t>(p);
      for (std::size_t w = 0; w < words_; ++w) bits_[s * words_ + w] |= bits_[from * words_ + w];
      bits_[s * words_ + from / 64] |= std::uint64_t{1} << (from % 64);
    }
}

BufferPlan plan_buffers(std::span<const SharedValue> values, const Reachability& order) {
  BufferPlan plan;
  plan.buffer.assign(values.size(), 0);
  std::vector<std::vector<std::uint32_t>> users;
  for (const std::uint32_t v : by_size(values)) {
    // buffers are made in falling order of size, so each is large enough: the last that fits wastes least
    std::size_t chosen = users.size();
    for (std::size_t b = users.size(); b-- > 0 && chosen == users.size();)
      if (plan.cuts[b] == values[v].cuts &&
          (values[v].cuts.empty() || round_up(values[v].bytes) == plan.bytes[b]) &&
          std::all_of(users[b].begin(), users[b].end(), [&](std::uint32_t u) {
            return runs_before(values[u], values[v], order) || runs_before(values[v], values[u], order);
          }))
        chosen = b;
    if (chosen == users.size()) {
      users.emplace_back();
      plan.bytes.push_back(round_up(std::max<std::int64_t>(values[v].bytes, 1)));
      plan.cuts.push_back(values[v].cuts);
    }
    users[chosen].push_back(v);
    plan.buffer[v] = static_cast<std::uint32_t>(chosen);
  }
  return plan;
}

}  // namespace espalier
