#pragma once

#include <cstdint>
#include <vector>

#include "runtime/platform/platform.hpp"

namespace espalier::model {

/// Where copies between GPUs are serial (Platform::serial_peer_copies), which transfers exclude each other:
/// a copy between two GPUs and any other transfer into either of its ends.
class CopyEngines {
 public:
  explicit CopyEngines(const Platform& platform);

  /// False: transfers of unlike pairs never exclude each other.
  bool serial() const { return !gpu_.empty(); }
  bool free_for(MemoryId from, MemoryId to) const {
    return peers_at_[to] == 0 && (!peer(from, to) || (into_[from] == 0 && into_[to] == 0));
  }
  void take(MemoryId from, MemoryId to) { count(from, to, 1); }
  void give_back(MemoryId from, MemoryId to) { count(from, to, -1); }

 private:
  bool peer(MemoryId from, MemoryId to) const { return gpu_[from] != 0 && gpu_[to] != 0; }
  void count(MemoryId from, MemoryId to, int by) {
    into_[to] += by;
    if (!peer(from, to)) return;
    peers_at_[from] += by;
    peers_at_[to] += by;
  }

  std::vector<char> gpu_;      ///< by memory; empty: not serial
  std::vector<int> into_;      ///< transfers into a memory
  std::vector<int> peers_at_;  ///< copies between GPUs with this end
};

}  // namespace espalier::model
