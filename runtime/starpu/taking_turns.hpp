#pragma once

#include <mutex>
#include <thread>

#include "runtime/starpu/starpu_detail.hpp"

/// Locks and pauses that also serve a simulation. There, StarPU's threads take turns on one thread of the
/// system: one that waited for a lock as usual would wait for ever.
namespace espalier::starpu {

#ifdef STARPU_SIMGRID
class Mutex {
 public:
  void lock() {
    while (!try_lock()) starpu_sleep(1e-6F);
  }
  bool try_lock() {
    const bool got = !taken_;
    taken_ = true;
    return got;
  }
  void unlock() { taken_ = false; }

 private:
  bool taken_ = false;
};
inline void let_others_run() {
  starpu_sleep(1e-6F);
}
#else
using Mutex = std::mutex;
inline void let_others_run() {
  std::this_thread::yield();
}
#endif

}  // namespace espalier::starpu
