#include "runtime/model/replicas.hpp"

#include <algorithm>

namespace espalier::model {

Replicas::Replicas(const TaskGraph& graph, const Platform& platform)
    : graph_(graph), words_((platform.memories.size() + 63) / 64) {
  const std::size_t n = graph.data_count(), m = platform.memories.size();
  valid_.assign(n * words_, 0);
  arriving_.assign(n * words_, 0);
  used_.assign(m, 0);
  peak_.assign(m, 0);
  double total = 0;
  for (DataId d = 0; d < n; ++d) total += static_cast<double>(graph.data(d).size.value);
  records_.resize(m);
  candidates_.resize(m);
  for (const Memory& memory : platform.memories) capacity_.push_back(memory.capacity.value);
  for (MemoryId i = 0; i < m; ++i)
    if (total > static_cast<double>(capacity_[i])) records_[i].resize(n);
}

void Replicas::set_valid(DataId d, MemoryId m) {
  set(valid_, d, m, true);
}

void Replicas::drop(DataId d, MemoryId m) {
  set(valid_, d, m, false);
  used_[m] -= graph_.data(d).size.value;
  if (bounded(m)) {
    records_[m][d].pins = 0;
    ++records_[m][d].stamp;
  }
}

bool Replicas::valid_elsewhere(DataId d, MemoryId m) const {
  for (std::size_t w = 0; w < words_; ++w) {
    std::uint64_t bits = valid_[d * words_ + w];
    if (w == m / 64) bits &= ~(std::uint64_t{1} << (m & 63));
    if (bits != 0) return true;
  }
  return false;
}

void Replicas::make_evictable(DataId d, MemoryId m, double key) {
  Record& r = records_[m][d];
  candidates_[m].push_back({key, d, ++r.stamp});
  std::push_heap(candidates_[m].begin(), candidates_[m].end(), less);
}

void Replicas::unpin(DataId d, MemoryId m, double key) {
  Record& r = records_[m][d];
  if (r.pins > 0 && --r.pins == 0) make_evictable(d, m, key);
}

std::optional<DataId> Replicas::take_victim(MemoryId m) {
  auto& heap = candidates_[m];
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), less);
    const Candidate c = heap.back();
    heap.pop_back();
    const Record& r = records_[m][c.data];
    if (c.stamp == r.stamp && r.pins == 0 && valid(c.data, m)) return c.data;
  }
  return std::nullopt;
}

}  // namespace espalier::model
