#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <starpu.h>

#include "runtime/task_graph/task_graph.hpp"

namespace espalier::starpu {

struct HandleAccess {
  starpu_data_handle_t handle;
  AccessMode mode;
};

inline starpu_data_access_mode mode_of(AccessMode m) {
  return m == AccessMode::read ? STARPU_R : m == AccessMode::write ? STARPU_W : STARPU_RW;
}

/// Gives the task `count` data: access(i) is a HandleAccess. More than StarPU was compiled for go into arrays
/// that it frees with the task. std::bad_alloc.
template <class Access>
void set_accesses(starpu_task* task, std::size_t count, Access&& access) {
  task->nbuffers = static_cast<int>(count);
  starpu_data_handle_t* handles = task->handles;
  starpu_data_access_mode* modes = task->modes;
  if (count > STARPU_NMAXBUFS) {
    task->dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(count * sizeof *handles));
    task->dyn_modes = static_cast<starpu_data_access_mode*>(std::malloc(count * sizeof *modes));
    if (task->dyn_handles == nullptr || task->dyn_modes == nullptr) throw std::bad_alloc();
    handles = task->dyn_handles;
    modes = task->dyn_modes;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const HandleAccess a = access(i);
    handles[i] = a.handle;
    modes[i] = mode_of(a.mode);
  }
}

}  // namespace espalier::starpu
