#include "runtime/platform/platform.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

void Platform::set_route(MemoryId from, MemoryId to, std::vector<LinkId> route) {
  const std::size_t n = memories.size();
  if (from >= n || to >= n) throw InternalError("route between memories that do not exist");
  routes_.resize(n * n);
  Route& r = routes_[from * n + to];
  r = {true, std::move(route), std::numeric_limits<double>::infinity(), Seconds(0)};
  for (const LinkId l : r.links) {
    r.bandwidth = std::min(r.bandwidth, links[l].bandwidth);
    r.latency += links[l].latency;
  }
}

bool Platform::has_route(MemoryId from, MemoryId to) const {
  const std::size_t i = from * memories.size() + to;
  return from == to || (i < routes_.size() && routes_[i].exists);
}

std::span<const LinkId> Platform::route(MemoryId from, MemoryId to) const {
  if (from == to) return {};
  if (!has_route(from, to))
    throw InputError(fmt::format("platform {}: no route from memory {} to {}", name, memories[from].name,
                                 memories[to].name));
  return routes_[from * memories.size() + to].links;
}

Seconds Platform::transfer_time(Bytes size, MemoryId from, MemoryId to) const {
  if (from == to) return Seconds(0);
  static_cast<void>(route(from, to));
  const Route& r = routes_[from * memories.size() + to];
  return r.latency + Seconds(static_cast<double>(size.value) / r.bandwidth);
}

std::uint64_t Platform::fingerprint() const {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](std::uint64_t v) {
    for (int i = 0; i < 8; ++i) hash = (hash ^ ((v >> (8 * i)) & 0xff)) * 1099511628211ULL;
  };
  for (const DeviceKind& k : kinds)
    for (const char c : k.name) mix(static_cast<unsigned char>(c));
  for (const Worker& w : workers) mix((static_cast<std::uint64_t>(w.kind) << 16) | w.memory);
  for (const Memory& m : memories) mix(static_cast<std::uint64_t>(m.capacity.value));
  for (const Link& l : links)
    mix(std::bit_cast<std::uint64_t>(l.bandwidth) ^ std::bit_cast<std::uint64_t>(l.latency.value));
  for (const Route& r : routes_)
    for (const LinkId l : r.links) mix(l + 1U);
  if (serial_peer_copies) mix(1);
  return hash;
}

void Platform::validate() const {
  if (workers.empty()) throw InputError(fmt::format("platform {}: it has no worker", name));
  if (memories.empty()) throw InputError(fmt::format("platform {}: it has no memory", name));
  for (const Worker& w : workers) {
    if (w.kind >= kinds.size() || w.memory >= memories.size())
      throw InternalError(fmt::format("worker {} of platform {}", w.name, name));
    for (const auto& [from, to] : {std::pair<MemoryId, MemoryId>{0, w.memory}, {w.memory, 0}})
      if (!has_route(from, to))
        throw InputError(
            fmt::format("platform {}: memory {} of worker {} cannot be reached: no route from {} to {}", name,
                        memories[w.memory].name, w.name, memories[from].name, memories[to].name));
  }
}

}  // namespace espalier
