#include "runtime/starpu/empty_tasks.hpp"

#include <deque>

#include "runtime/starpu/program_tasks.hpp"

namespace espalier::starpu {
namespace {

struct EmptyBody final : TaskBody {
  EmptyBody(const void* program, TaskId task) : TaskBody(0, program, task) {}
  void run(void**, unsigned) noexcept override {}
};

}  // namespace

struct EmptyTasks::State {
  State(Machine& machine, TaskId tasks, DataId data) : memory(8 * data), handles(data) {
    TaskGraphBuilder builder;
    for (DataId d = 0; d < data; ++d) builder.add_data({Bytes(64)});
    builder.add_class({"empty", "", Flops(0), Bytes(0)});
    for (TaskId t = 0; t < tasks; ++t) {
      const Access wanted[] = {{(t * 7 + 1) % data, AccessMode::read},
                               {(t * 13 + 3) % data, AccessMode::read},
                               {t % data, AccessMode::read_write}};
      builder.add_task({}, wanted);
      bodies.emplace_back(this, t);
    }
    graph = builder.build();
    codelet = machine.codelets().get("empty");
    codelet->model = nullptr;  // no history is kept
    for (DataId d = 0; d < data; ++d)
      starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                  reinterpret_cast<std::uintptr_t>(&memory[8 * d]), 1, 64);
  }
  ~State() {
    const Machine::Work work;
    for (const starpu_data_handle_t h : handles) starpu_data_unregister(h);
  }

  TaskGraph graph;
  std::deque<EmptyBody> bodies;
  std::vector<double> memory;
  std::vector<starpu_data_handle_t> handles;
  starpu_codelet* codelet = nullptr;
};

EmptyTasks::EmptyTasks(Machine& machine, TaskId tasks, DataId data)
    : state_(std::make_unique<State>(machine, tasks, data)) {}

EmptyTasks::~EmptyTasks() = default;

const TaskGraph& EmptyTasks::graph() const {
  return state_->graph;
}

const void* EmptyTasks::program() const {
  return state_.get();
}

double EmptyTasks::run(TaskDriver* driver) {
  const Machine::Work work;
  Machine::Drive drive(driver);
  const double start = seconds_now();
  for (TaskId t = 0; t < state_->graph.task_count(); ++t) {
    HandleAccess accesses[3];
    std::size_t n = 0;
    for (const Access& a : state_->graph.accesses(t)) accesses[n++] = {state_->handles[a.data], a.mode};
    submit_task(state_->codelet, state_->bodies[t], {accesses, n}, 0, "empty");
  }
  starpu_task_wait_for_all();
  return seconds_now() - start;
}

}  // namespace espalier::starpu
