#include "runtime/model/transfers.hpp"

#include <algorithm>
#include <limits>

namespace espalier::model {

Transfers::Transfers(const Platform& platform, std::size_t data_count, bool contention, EventQueue& events)
    : events_(events),
      flows_(platform),
      engines_(platform),
      memories_(platform.memories.size()),
      first_of_data_(data_count, kNoTransfer) {
  build_paths(platform, contention);
}

void Transfers::build_paths(const Platform& platform, bool contention) {
  const std::size_t n = memories_;
  if (platform.links.size() == 1 && !platform.links[0].shared && n > 1) {
    bool everywhere = true;
    for (MemoryId a = 0; a < n && everywhere; ++a)
      for (MemoryId b = 0; b < n && everywhere; ++b)
        everywhere = a == b || (platform.has_route(a, b) && platform.route(a, b).size() == 1);
    if (everywhere) {
      uniform_ = true;
      uniform_path_ = {true, true, platform.links[0].bandwidth, platform.links[0].latency.value, {}};
      return;
    }
  }
  paths_.resize(n * n);
  pairs_.resize(n * n);
  for (MemoryId a = 0; a < n; ++a)
    for (MemoryId b = 0; b < n; ++b) {
      Path& p = paths_[a * n + b];
      if (a == b) continue;
      const auto append = [&](MemoryId from, MemoryId to) {
        const auto links = platform.route(from, to);
        p.links.insert(p.links.end(), links.begin(), links.end());
      };
      if (platform.has_route(a, b)) {
        append(a, b);
      } else if (platform.has_route(a, 0) && platform.has_route(0, b)) {  // through the host
        append(a, 0);
        append(0, b);
      } else {
        continue;
      }
      std::sort(p.links.begin(), p.links.end());
      p.links.erase(std::unique(p.links.begin(), p.links.end()), p.links.end());
      p.exists = true;
      p.bandwidth = std::numeric_limits<double>::infinity();
      for (const LinkId l : p.links) {
        p.bandwidth = std::min(p.bandwidth, platform.links[l].bandwidth);
        p.latency += platform.links[l].latency.value;
        if (contention && platform.links[l].shared) p.alone = false;
      }
    }
}

bool Transfers::later(const Entry& a, const Entry& b) {
  if (a.demanded != b.demanded) return b.demanded;
  if (!a.demanded && a.key != b.key) return a.key > b.key;
  return a.sequence > b.sequence;
}

TransferId Transfers::begin(Transfer what, double now) {
  TransferId id;
  if (free_.empty()) {
    id = static_cast<TransferId>(transfers_.size());
    transfers_.emplace_back();
    generations_.push_back(0);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  ++active_;
  Transfer& t = transfers_[id];
  auto waiters = std::move(t.waiters);  // keeps its storage
  t = std::move(what);
  t.waiters = std::move(waiters);
  t.next_of_data = first_of_data_[t.data];
  first_of_data_[t.data] = id;
  const Path& p = path(t.from, t.to);
  if (p.alone) {
    move(id, now);
    return id;
  }
  Pair& pair = pairs_[t.from * memories_ + t.to];
  pair.queued_bytes += static_cast<double>(t.size.value);
  if (engines_.serial()) {
    enqueue(id);
    start_waiting(now);
  } else if (pair.busy) {
    enqueue(id);
  } else {
    set_out(id, now);
  }
  return id;
}

void Transfers::enqueue(TransferId id) {
  const Transfer& t = transfers_[id];
  const std::uint32_t index = t.from * static_cast<std::uint32_t>(memories_) + t.to;
  Pair& pair = pairs_[index];
  pair.waiting.push_back({t.demanded, t.key, sequence_++, id, generations_[id]});
  std::push_heap(pair.waiting.begin(), pair.waiting.end(), later);
  if (!engines_.serial() || pair.listed) return;
  pair.listed = true;
  waiting_pairs_.push_back(index);
}

/// Leaves the queue of its pair.
void Transfers::set_out(TransferId id, double now) {
  const Transfer& t = transfers_[id];
  pairs_[t.from * memories_ + t.to].busy = true;
  if (engines_.serial()) engines_.take(t.from, t.to);
  move(id, now);
}

/// Entries of transfers that have left meanwhile go; true when one is left.
bool Transfers::drop_void_entries(Pair& pair) {
  while (!pair.waiting.empty()) {
    const Entry& head = pair.waiting.front();
    if (head.generation == generations_[head.id] && !transfers_[head.id].moving) return true;
    std::pop_heap(pair.waiting.begin(), pair.waiting.end(), later);
    pair.waiting.pop_back();
  }
  return false;
}

/// Where pairs exclude each other: the first of each pair's line, best first, sets out if nothing that moves
/// or comes before it excludes it.
void Transfers::start_waiting(double now) {
  candidates_.clear();
  for (std::size_t i = 0; i < waiting_pairs_.size();) {
    Pair& pair = pairs_[waiting_pairs_[i]];
    if (!drop_void_entries(pair)) {
      pair.listed = false;
      waiting_pairs_[i] = waiting_pairs_.back();
      waiting_pairs_.pop_back();
      continue;
    }
    if (!pair.busy) candidates_.push_back({pair.waiting.front(), waiting_pairs_[i]});
    ++i;
  }
  std::sort(candidates_.begin(), candidates_.end(),
            [](const Candidate& a, const Candidate& b) { return later(b.head, a.head); });
  held_back_.clear();
  for (const Candidate& c : candidates_) {
    const Transfer& t = transfers_[c.head.id];
    if (engines_.free_for(t.from, t.to)) {
      Pair& pair = pairs_[c.pair];
      std::pop_heap(pair.waiting.begin(), pair.waiting.end(), later);
      pair.waiting.pop_back();
      set_out(c.head.id, now);
    } else {
      engines_.take(t.from, t.to);
      held_back_.push_back(c);
    }
  }
  for (const Candidate& c : held_back_)
    engines_.give_back(transfers_[c.head.id].from, transfers_[c.head.id].to);
}

void Transfers::demand(TransferId id) {
  Transfer& t = transfers_[id];
  if (t.demanded) return;
  t.demanded = true;
  if (!t.moving) enqueue(id);  // the older entry is skipped, as the transfer moves by then
}

void Transfers::move(TransferId id, double now) {
  Transfer& t = transfers_[id];
  const Path& p = path(t.from, t.to);
  t.moving = true;
  t.start = now;
  if (t.stale)  // overwritten while it waited: nothing crosses the links
    events_.push({now, id, 0, EventKind::transfer_end});
  else if (p.alone)
    events_.push(
        {now + p.latency + static_cast<double>(t.size.value) / p.bandwidth, id, 0, EventKind::transfer_end});
  else
    events_.push({now + p.latency, id, 0, EventKind::flow_start});
}

bool Transfers::handle(const Event& event, double now) {
  const TransferId id = event.subject;
  if (event.kind == EventKind::transfer_end) return true;
  const Transfer& t = transfers_[id];
  if (event.kind == EventKind::flow_start) {
    flows_.start(id, path(t.from, t.to).links, static_cast<double>(t.size.value), now);
    return false;
  }
  if (event.version != flows_.version(id)) return false;
  flows_.finish(id);
  return true;
}

void Transfers::settle(double now) {
  for (const FlowNetwork::Change& c : flows_.settle(now))
    events_.push({c.end, c.flow, c.version, EventKind::flow_end});
}

void Transfers::end(TransferId id, double now) {
  Transfer& t = transfers_[id];
  TransferId* link = &first_of_data_[t.data];
  while (*link != id) link = &transfers_[*link].next_of_data;
  *link = t.next_of_data;
  t.waiters.clear();
  t.moving = false;
  ++generations_[id];
  free_.push_back(id);
  --active_;
  if (path(t.from, t.to).alone) return;
  Pair& pair = pairs_[t.from * memories_ + t.to];
  pair.queued_bytes -= static_cast<double>(t.size.value);
  pair.busy = false;
  if (engines_.serial()) {
    engines_.give_back(t.from, t.to);
    return start_waiting(now);
  }
  if (!drop_void_entries(pair)) return;
  const TransferId next = pair.waiting.front().id;
  std::pop_heap(pair.waiting.begin(), pair.waiting.end(), later);
  pair.waiting.pop_back();
  set_out(next, now);
}

TransferId Transfers::find(DataId data, MemoryId to) const {
  for (TransferId id = first_of_data_[data]; id != kNoTransfer; id = transfers_[id].next_of_data)
    if (transfers_[id].to == to && !transfers_[id].stale) return id;
  return kNoTransfer;
}

double Transfers::estimate(Bytes size, MemoryId from, MemoryId to) const {
  const Path& p = path(from, to);
  if (!p.exists) return std::numeric_limits<double>::infinity();
  double bytes = static_cast<double>(size.value);
  if (!p.alone) bytes += pairs_[from * memories_ + to].queued_bytes;
  return p.latency + bytes / p.bandwidth;
}

}  // namespace espalier::model
