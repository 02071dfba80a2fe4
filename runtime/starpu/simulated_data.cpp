#include "runtime/starpu/simulated_data.hpp"

#include <algorithm>

#include "runtime/starpu/task_accesses.hpp"

namespace espalier::starpu {
namespace {

/// A vector of bytes; above 2 GiB of larger elements, as StarPU counts them in 32 bits.
starpu_data_handle_t register_bytes(int home, std::int64_t size) {
  const std::int64_t element = size > (std::int64_t{1} << 31) ? std::int64_t{1} << 20 : 1;
  const auto count = static_cast<std::uint32_t>(std::max<std::int64_t>(1, (size + element - 1) / element));
  starpu_data_handle_t handle = nullptr;
  const std::uintptr_t address = home < 0 ? 0 : 1;  // nobody reads what is there
  starpu_vector_data_register(&handle, home, address, count, static_cast<std::size_t>(element));
  return handle;
}

}  // namespace

SimulatedData::SimulatedData(const TaskGraph& graph) : graph_(graph) {
  std::vector<char> written_first;
  find_first_and_last_uses(written_first);
  find_explicit_predecessors();
  for (DataId d = 0; d < graph.data_count(); ++d)
    handles_.push_back(register_bytes(written_first[d] != 0 ? -1 : static_cast<int>(graph.data(d).home),
                                      graph.data(d).size.value));
}

void SimulatedData::find_first_and_last_uses(std::vector<char>& written_first) {
  last_use_.assign(graph_.data_count(), kNoTask);
  written_first.assign(graph_.data_count(), 0);
  written_.assign(graph_.data_count(), 0);
  given_up_.assign(graph_.data_count(), 0);
  uses_left_.assign(graph_.data_count(), 0);
  for (TaskId t = 0; t < graph_.task_count(); ++t)
    for (const Access& a : graph_.accesses(t)) {
      if (last_use_[a.data] == kNoTask) written_first[a.data] = a.mode == AccessMode::write ? 1 : 0;
      if (writes(a.mode)) written_[a.data] = 1;
      last_use_[a.data] = t;
      ++uses_left_[a.data];
    }
}

void SimulatedData::find_explicit_predecessors() {
  struct History {
    TaskId writer = kNoTask;
    std::vector<TaskId> readers;
  };
  std::vector<History> history(graph_.data_count());
  std::vector<TaskId> implied;
  for (TaskId t = 0; t < graph_.task_count(); ++t) {
    implied.clear();
    for (const Access& a : graph_.accesses(t)) {
      History& h = history[a.data];
      if (h.writer != kNoTask) implied.push_back(h.writer);
      if (writes(a.mode)) {
        implied.insert(implied.end(), h.readers.begin(), h.readers.end());
        h.readers.clear();
        h.writer = t;
      } else {
        h.readers.push_back(t);
      }
    }
    std::sort(implied.begin(), implied.end());
    for (const TaskId p : graph_.predecessors(t)) {
      if (std::binary_search(implied.begin(), implied.end(), p)) continue;
      if (explicit_.empty()) explicit_.resize(graph_.task_count());
      explicit_[t].push_back(p);
    }
  }
}

const std::vector<TaskId>& SimulatedData::explicit_predecessors(TaskId t) const {
  static const std::vector<TaskId> none;
  return explicit_.empty() ? none : explicit_[t];
}

void SimulatedData::give_accesses(TaskId t, starpu_task* task) const {
  const auto accesses = graph_.accesses(t);
  set_accesses(task, accesses.size(), [&](std::size_t i) {
    return HandleAccess{handles_[accesses[i].data], accesses[i].mode};
  });
}

void SimulatedData::submitted(TaskId t) {
  for (const Access& a : graph_.accesses(t)) {
    if (last_use_[a.data] != t || graph_.data(a.data).is_result) continue;
    if (starpu_data_get_home_node(handles_[a.data]) < 0) {
      starpu_data_unregister_submit(handles_[a.data]);
      given_up_[a.data] = 1;
    } else if (written_[a.data] == 0) {
      starpu_data_wont_use(handles_[a.data]);
    }
  }
}

void SimulatedData::finished(TaskId t) {
  for (const Access& a : graph_.accesses(t)) {
    if (--uses_left_[a.data] > 0 || written_[a.data] == 0 || graph_.data(a.data).is_result) continue;
    // wont_use would copy it home first; invalid from the submission on, which prefetches must not meet
    if (starpu_data_get_home_node(handles_[a.data]) >= 0) starpu_data_invalidate_submit(handles_[a.data]);
  }
}

void SimulatedData::send(DataId d, MemoryId memory, int priority) {
  if (uses_left_[d] == 0) return;
  starpu_data_prefetch_on_node_prio(handles_[d], memory, 1, priority);
}

void SimulatedData::request_results() {
  struct Arrival {
    SimulatedData* data;
    starpu_data_handle_t handle;
    int node;
  };
  for (DataId d = 0; d < graph_.data_count(); ++d) {
    if (!graph_.data(d).is_result || last_use_[d] == kNoTask) continue;
    const int home = static_cast<int>(graph_.data(d).home);
    auto* arrival = new Arrival{this, handles_[d], home};
    starpu_data_acquire_on_node_cb(
        handles_[d], home, STARPU_R,
        [](void* argument) {
          auto* a = static_cast<Arrival*>(argument);
          a->data->last_arrival_ = std::max(a->data->last_arrival_, starpu_timing_now());
          starpu_data_release_on_node(a->handle, a->node);
          delete a;
        },
        arrival);
  }
}

double SimulatedData::wait_for_results() {
  for (DataId d = 0; d < graph_.data_count(); ++d) {
    if (!graph_.data(d).is_result || last_use_[d] == kNoTask) continue;
    const int home = static_cast<int>(graph_.data(d).home);
    if (starpu_data_acquire_on_node(handles_[d], home, STARPU_R) == 0)
      starpu_data_release_on_node(handles_[d], home);
  }
  return last_arrival_;
}

void SimulatedData::unregister() {
  for (DataId d = 0; d < handles_.size(); ++d)
    if (given_up_[d] == 0) starpu_data_unregister_no_coherency(handles_[d]);
  handles_.clear();
}

bool SimulatedData::is_valid(DataId d, MemoryId memory) const {
  int allocated = 0, valid = 0, requested = 0;
  if (uses_left_[d] == 0) return false;
  starpu_data_query_status(handles_[d], memory, &allocated, &valid, &requested);
  return valid != 0;
}

bool SimulatedData::is_arriving(DataId d, MemoryId memory) const {
  int allocated = 0, valid = 0, requested = 0;
  if (uses_left_[d] == 0) return false;
  starpu_data_query_status(handles_[d], memory, &allocated, &valid, &requested);
  return valid == 0 && requested != 0;
}

void SimulatedData::prefetch(TaskId /*task*/, starpu_task* submitted, MemoryId memory) {
  starpu_prefetch_task_input_on_node(submitted, memory);
}

}  // namespace espalier::starpu
