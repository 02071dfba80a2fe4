#include "runtime/starpu/codelets.hpp"

#include <cstring>

#include "runtime/simgrid/sampling_writer.hpp"

namespace espalier::starpu {
namespace {

void run_body(void** buffers, void* argument) {
  static_cast<TaskBody*>(argument)->run(buffers, static_cast<unsigned>(starpu_worker_get_id()));
}

std::uint32_t footprint_of(starpu_task* task) {
  return static_cast<const TaskBody*>(task->cl_arg)->footprint();
}

}  // namespace

const TaskBody* body_of(const starpu_task* task) {
  const bool ours = task->cl != nullptr && task->cl->cpu_funcs[0] == run_body;
  return ours ? static_cast<const TaskBody*>(task->cl_arg) : nullptr;
}

starpu_codelet* CodeletTable::get(const std::string& name) {
  if (const auto it = by_name_.find(name); it != by_name_.end()) return &it->second->codelet;
  Entry& entry = entries_.emplace_back();
  entry.name = name;
  entry.symbol = simgrid::model_symbol(name);
  std::memset(&entry.model, 0, sizeof entry.model);
  entry.model.type = STARPU_HISTORY_BASED;
  entry.model.symbol = entry.symbol.c_str();
  entry.model.footprint = footprint_of;
  starpu_codelet_init(&entry.codelet);
  entry.codelet.cpu_funcs[0] = run_body;
  if (can_execute_ != nullptr) {
    entry.codelet.cuda_funcs[0] = run_body;
    entry.codelet.cuda_flags[0] = STARPU_CUDA_ASYNC;
    entry.codelet.can_execute = can_execute_;
  }
  entry.codelet.nbuffers = STARPU_VARIABLE_NBUFFERS;
  entry.codelet.model = &entry.model;
  entry.codelet.name = entry.name.c_str();
  by_name_.emplace(name, &entry);
  return &entry.codelet;
}

}  // namespace espalier::starpu
