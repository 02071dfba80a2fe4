#pragma once

#include <atomic>

#include "graphs/ir/layer.hpp"

namespace espalier::starpu {

class TaskDriver;

struct SessionOptions {
  KernelOptions kernels;
  bool record_trace = false;
  /// Raised by another thread or a signal handler: tasks that have not started are passed over.
  const std::atomic<bool>* stop = nullptr;
  /// Of this program, on a machine with kOwnPolicy; must outlive the session. Null: StarPU's policy decides.
  TaskDriver* driver = nullptr;
};

}  // namespace espalier::starpu
