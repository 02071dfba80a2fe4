#include "schedulers/static/exact/state_memo.hpp"

namespace espalier {

bool StateMemo::superfluous(const Key& key, const std::vector<std::int64_t>& times) {
  const std::size_t n = times.size();
  auto found = first_.find(key);
  if (found == first_.end()) {
    if (pool_.size() + 8 * first_.size() + n + 1 > capacity_) return false;
    found = first_.emplace(key, kEnd).first;
  }
  std::int64_t reusable = -1;
  for (std::uint32_t at = found->second; at != kEnd; at = static_cast<std::uint32_t>(pool_[at])) {
    const std::int64_t* known = pool_.data() + at + 1;
    bool below = true, above = true;
    for (std::size_t i = 0; i < n && (below || above); ++i) {
      below = below && known[i] <= times[i];
      above = above && known[i] >= times[i];
    }
    if (below) return true;
    if (above && reusable < 0) reusable = at;
  }
  if (reusable >= 0) {
    for (std::size_t i = 0; i < n; ++i) pool_[reusable + 1 + i] = times[i];
    return false;
  }
  if (pool_.size() + 8 * first_.size() + n + 1 > capacity_) return false;
  const auto fresh = static_cast<std::uint32_t>(pool_.size());
  pool_.push_back(found->second);
  pool_.insert(pool_.end(), times.begin(), times.end());
  found->second = fresh;
  return false;
}

}  // namespace espalier
