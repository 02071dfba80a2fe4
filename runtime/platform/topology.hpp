#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/platform/platform.hpp"

namespace espalier {

/// A machine while it is being described: memories and switches joined by links. finish() finds the routes.
class Topology {
 public:
  using Vertex = std::uint32_t;
  struct Edge {
    Vertex a, b;
    double bandwidth;
    Seconds latency;
    bool full_duplex = true;  ///< each direction has the bandwidth for itself
    bool shared = true;
  };

  /// InputError when the kind exists with other properties.
  KindId add_kind(const DeviceKind& kind);
  /// Names of memories and switches are unique; InputError else.
  Vertex add_memory(const std::string& name, Bytes capacity);
  Vertex add_switch(const std::string& name);
  /// The memory must be one.
  void add_worker(const std::string& name, KindId kind, Vertex memory);
  void connect(const Edge& edge);
  /// Platform::serial_peer_copies.
  void set_serial_peer_copies(bool serial) { serial_peer_copies_ = serial; }
  /// Copies another machine in; its names get a prefix.
  void include(const Topology& other, const std::string& prefix);

  const Vertex* find(const std::string& name) const;
  bool is_memory(Vertex v) const { return memory_of_[v] != kNone; }
  const std::vector<DeviceKind>& kinds() const { return kinds_; }
  std::size_t worker_count() const { return workers_.size(); }

  /// Memories in the order in which they were added (the first is the host's), a link for each direction of
  /// each edge, and between each two memories the route with the least time for 1 MiB link by link; routes
  /// pass through switches and through memories of CPUs. O(m (v + e) log v).
  Platform finish(const std::string& name) const;

 private:
  static constexpr MemoryId kNone = ~MemoryId{0};
  struct WorkerAt {
    std::string name;
    KindId kind;
    Vertex memory;
  };
  Vertex add_vertex(const std::string& name, MemoryId memory);
  void find_routes(Platform& platform, const std::vector<std::pair<LinkId, LinkId>>& links,
                   MemoryId from) const;

  std::vector<DeviceKind> kinds_;
  std::vector<std::string> names_;
  std::vector<MemoryId> memory_of_;  ///< by vertex; kNone: a switch
  std::vector<Vertex> vertex_of_;    ///< by memory
  std::vector<Bytes> capacities_;
  std::vector<WorkerAt> workers_;
  std::vector<Edge> edges_;
  std::unordered_map<std::string, Vertex> index_;
  bool serial_peer_copies_ = false;
};

}  // namespace espalier
