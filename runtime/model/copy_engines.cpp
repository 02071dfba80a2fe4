#include "runtime/model/copy_engines.hpp"

namespace espalier::model {

CopyEngines::CopyEngines(const Platform& platform) {
  if (!platform.serial_peer_copies) return;
  const std::size_t n = platform.memories.size();
  gpu_.assign(n, 1);
  gpu_[0] = 0;
  for (const Worker& w : platform.workers)
    if (platform.kinds[w.kind].type == DeviceType::cpu) gpu_[w.memory] = 0;
  into_.assign(n, 0);
  peers_at_.assign(n, 0);
}

}  // namespace espalier::model
