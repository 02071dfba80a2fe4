#include "schedulers/common/timeline.hpp"

#include <algorithm>

namespace espalier {

double Timeline::earliest(double ready, double duration) const {
  if (ready >= end_) return ready;
  if (root_ != kNone && gaps_[root_].longest >= duration) {
    const std::uint32_t found = first_fit(root_, ready, duration);
    if (found != kNone) return std::max(ready, gaps_[found].begin);
  }
  return end_;
}

/// In order of time; a subtree without a gap long enough is skipped. Only the gap that contains `ready` can
/// be long enough and still not fit, so the search goes down at most twice.
std::uint32_t Timeline::first_fit(std::uint32_t node, double ready, double duration) const {
  if (node == kNone || gaps_[node].longest < duration) return kNone;
  const Gap& gap = gaps_[node];
  if (gap.begin > ready) {
    const std::uint32_t found = first_fit(gap.left, ready, duration);
    if (found != kNone) return found;
  }
  if (std::max(ready, gap.begin) + duration <= gap.end) return node;
  return first_fit(gap.right, ready, duration);
}

void Timeline::occupy(double start, double finish) {
  if (start >= end_) {
    if (start > end_ && start - end_ >= shortest_) insert(end_, start);
    end_ = finish;
    return;
  }
  // the gap that holds start: the last one that begins at or before it
  path_.clear();
  std::size_t depth = 0;
  for (std::uint32_t node = root_; node != kNone;) {
    path_.push_back(node);
    const bool at_or_before = gaps_[node].begin <= start;
    if (at_or_before) depth = path_.size();
    node = at_or_before ? gaps_[node].right : gaps_[node].left;
  }
  if (depth == 0) return;  // a task of no length beside a busy time
  path_.resize(depth);
  Gap& gap = gaps_[path_.back()];
  const double begin = gap.begin, end = gap.end;
  if (end < finish) return;
  const bool before = start > begin && start - begin >= shortest_;
  const bool after = end > finish && end - finish >= shortest_;
  if (before)
    gap.end = start;
  else
    gap.begin = after ? finish : end;
  for (auto node = path_.rbegin(); node != path_.rend(); ++node) refresh(*node);
  if (before && after) insert(finish, end);
}

void Timeline::refresh(std::uint32_t node) {
  Gap& gap = gaps_[node];
  gap.longest = gap.end - gap.begin;
  if (gap.left != kNone) gap.longest = std::max(gap.longest, gaps_[gap.left].longest);
  if (gap.right != kNone) gap.longest = std::max(gap.longest, gaps_[gap.right].longest);
}

void Timeline::insert(double begin, double end) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 17;
  random_ ^= random_ << 5;
  const auto fresh = static_cast<std::uint32_t>(gaps_.size());
  gaps_.push_back({begin, end, end - begin, kNone, kNone, random_});
  path_.clear();
  std::uint32_t node = root_;
  while (node != kNone && gaps_[node].rank >= random_) {
    path_.push_back(node);
    node = gaps_[node].begin < begin ? gaps_[node].right : gaps_[node].left;
  }
  std::uint32_t low = kNone, high = kNone;
  split(node, begin, low, high);
  gaps_[fresh].left = low;
  gaps_[fresh].right = high;
  refresh(fresh);
  if (path_.empty())
    root_ = fresh;
  else if (gaps_[path_.back()].begin < begin)
    gaps_[path_.back()].right = fresh;
  else
    gaps_[path_.back()].left = fresh;
  for (auto up = path_.rbegin(); up != path_.rend(); ++up) refresh(*up);
}

void Timeline::split(std::uint32_t node, double key, std::uint32_t& low, std::uint32_t& high) {
  if (node == kNone) {
    low = high = kNone;
    return;
  }
  if (gaps_[node].begin < key) {
    low = node;
    split(gaps_[node].right, key, gaps_[node].right, high);
  } else {
    high = node;
    split(gaps_[node].left, key, low, gaps_[node].left);
  }
  refresh(node);
}

}  // namespace espalier
