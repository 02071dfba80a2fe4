#include "runtime/platform/topology.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <queue>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostMemories = 1024, kMostWorkers = 16384, kMostLinks = 60000;
constexpr double kRouteBytes = 1 << 20;

bool equal(const DeviceKind& a, const DeviceKind& b) {
  return a.type == b.type && a.peak_flops == b.peak_flops && a.memory_bandwidth == b.memory_bandwidth &&
         a.task_overhead == b.task_overhead && a.costs == b.costs && a.costs_scaled == b.costs_scaled;
}

}  // namespace

KindId Topology::add_kind(const DeviceKind& kind) {
  for (KindId k = 0; k < kinds_.size(); ++k)
    if (kinds_[k].name == kind.name) {
      if (!equal(kinds_[k], kind))
        throw InputError(fmt::format("kind {} is there twice with unlike properties", kind.name));
      return k;
    }
  kinds_.push_back(kind);
  return static_cast<KindId>(kinds_.size() - 1);
}

Topology::Vertex Topology::add_vertex(const std::string& name, MemoryId memory) {
  const auto v = static_cast<Vertex>(names_.size());
  if (!index_.emplace(name, v).second)
    throw InputError(fmt::format("the name {} is there twice among memories, devices and switches", name));
  names_.push_back(name);
  memory_of_.push_back(memory);
  return v;
}

Topology::Vertex Topology::add_memory(const std::string& name, Bytes capacity) {
  if (vertex_of_.size() >= kMostMemories)
    throw InputError(fmt::format("more than {} memories", kMostMemories));
  const Vertex v = add_vertex(name, static_cast<MemoryId>(vertex_of_.size()));
  vertex_of_.push_back(v);
  capacities_.push_back(capacity);
  return v;
}

Topology::Vertex Topology::add_switch(const std::string& name) {
  if (names_.size() >= 2 * kMostMemories) throw InputError("too many switches");
  return add_vertex(name, kNone);
}

void Topology::add_worker(const std::string& name, KindId kind, Vertex memory) {
  if (workers_.size() >= kMostWorkers) throw InputError(fmt::format("more than {} workers", kMostWorkers));
  workers_.push_back({name, kind, memory});
}

void Topology::connect(const Edge& edge) {
  if (2 * edges_.size() >= kMostLinks) throw InputError(fmt::format("more than {} links", kMostLinks / 2));
  edges_.push_back(edge);
}

void Topology::include(const Topology& other, const std::string& prefix) {
  std::vector<KindId> kind;
  for (const DeviceKind& k : other.kinds_) kind.push_back(add_kind(k));
  std::vector<Vertex> vertex;
  for (Vertex v = 0; v < other.names_.size(); ++v)
    vertex.push_back(other.is_memory(v)
                         ? add_memory(prefix + other.names_[v], other.capacities_[other.memory_of_[v]])
                         : add_switch(prefix + other.names_[v]));
  for (const WorkerAt& w : other.workers_) add_worker(prefix + w.name, kind[w.kind], vertex[w.memory]);
  for (Edge e : other.edges_) {
    e.a = vertex[e.a];
    e.b = vertex[e.b];
    connect(e);
  }
  serial_peer_copies_ = serial_peer_copies_ || other.serial_peer_copies_;
}

const Topology::Vertex* Topology::find(const std::string& name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &it->second;
}

Platform Topology::finish(const std::string& name) const {
  Platform p;
  p.name = name;
  p.serial_peer_copies = serial_peer_copies_;
  p.kinds = kinds_;
  for (std::size_t m = 0; m < vertex_of_.size(); ++m)
    p.memories.push_back({names_[vertex_of_[m]], capacities_[m]});
  for (const WorkerAt& w : workers_) p.workers.push_back({w.name, w.kind, memory_of_[w.memory]});
  std::vector<std::pair<LinkId, LinkId>> links;  // by edge: a to b, b to a
  for (const Edge& e : edges_) {
    const auto there = static_cast<LinkId>(p.links.size());
    p.links.push_back({fmt::format("{}{}{}", names_[e.a], e.full_duplex ? "->" : "--", names_[e.b]),
                       e.bandwidth, e.latency, e.shared});
    if (e.full_duplex)
      p.links.push_back({fmt::format("{}->{}", names_[e.b], names_[e.a]), e.bandwidth, e.latency, e.shared});
    links.emplace_back(there, static_cast<LinkId>(there + (e.full_duplex ? 1 : 0)));
  }
  for (MemoryId m = 0; m < p.memories.size(); ++m) find_routes(p, links, m);
  p.validate();
  return p;
}

void Topology::find_routes(Platform& p, const std::vector<std::pair<LinkId, LinkId>>& links,
                           MemoryId from) const {
  struct Hop {
    Vertex to;
    LinkId link;
  };
  std::vector<std::vector<Hop>> hops(names_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    hops[edges_[e].a].push_back({edges_[e].b, links[e].first});
    hops[edges_[e].b].push_back({edges_[e].a, links[e].second});
  }
  std::vector<char> forwards(names_.size(), 0);
  for (Vertex v = 0; v < names_.size(); ++v) forwards[v] = is_memory(v) ? 0 : 1;
  for (const WorkerAt& w : workers_)
    if (kinds_[w.kind].type == DeviceType::cpu) forwards[w.memory] = 1;
  std::vector<double> time(names_.size(), std::numeric_limits<double>::infinity());
  std::vector<std::pair<Vertex, LinkId>> before(names_.size());
  using Entry = std::pair<double, Vertex>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const Vertex source = vertex_of_[from];
  time[source] = 0;
  open.emplace(0.0, source);
  while (!open.empty()) {
    const auto [t, v] = open.top();
    open.pop();
    if (t > time[v] || (v != source && forwards[v] == 0)) continue;
    for (const Hop& h : hops[v]) {
      const double reached = t + p.links[h.link].latency.value + kRouteBytes / p.links[h.link].bandwidth;
      if (reached >= time[h.to]) continue;
      time[h.to] = reached;
      before[h.to] = {v, h.link};
      open.emplace(reached, h.to);
    }
  }
  for (MemoryId to = 0; to < p.memories.size(); ++to) {
    Vertex v = vertex_of_[to];
    if (to == from || time[v] == std::numeric_limits<double>::infinity()) continue;
    std::vector<LinkId> route;
    for (; v != source; v = before[v].first) route.push_back(before[v].second);
    std::reverse(route.begin(), route.end());
    p.set_route(from, to, std::move(route));
  }
}

}  // namespace espalier
