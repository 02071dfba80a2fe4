#pragma once

#include <atomic>

#include "graphs/ir/layer.hpp"

namespace espalier::starpu {

struct SessionOptions {
  KernelOptions kernels;
  bool record_trace = false;
  /// Raised by another thread or a signal handler: tasks that have not started are passed over.
  const std::atomic<bool>* stop = nullptr;
};

}  // namespace espalier::starpu
