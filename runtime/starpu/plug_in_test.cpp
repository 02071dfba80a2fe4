#include "runtime/starpu/plug_in.hpp"

#include <atomic>
#include <gtest/gtest.h>

#include "runtime/starpu/starpu_detail.hpp"

namespace espalier::starpu {
namespace {

/// Last come, first served.
class Stack final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    EXPECT_EQ(problem.platform.workers.size(), starpu_worker_get_count());
  }
  void ready(TaskId task) override { ready_.push_back(task); }
  TaskId pick(WorkerId) override {
    if (ready_.empty()) return kNoTask;
    const TaskId task = ready_.back();
    ready_.pop_back();
    return task;
  }
  void done(TaskId, WorkerId) override {}

 private:
  std::vector<TaskId> ready_;
};

std::unique_ptr<OnlinePolicy> make_stack() {
  return std::make_unique<Stack>();
}

void add_one(void** buffers, void* /*argument*/) {
  ++*reinterpret_cast<std::int64_t*>(STARPU_VARIABLE_GET_PTR(buffers[0]));
}

/// A StarPU program that knows nothing of Espalier; more independent tasks than there are places.
TEST(PlugIn, ServesAStarpuProgramTwice) {
  for (int round = 0; round < 2; ++round) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.precedence_over_environment_variables = 1;
    conf.sched_policy = plug_in_policy(1, {"stack", make_stack});
    conf.ncuda = 0;
    ASSERT_EQ(starpu_init(&conf), 0);
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = add_one;
    codelet.nbuffers = 1;
    codelet.modes[0] = STARPU_RW;
    constexpr int kChains = 9000, kLength = 2;
    std::vector<std::int64_t> values(kChains, 0);
    std::vector<starpu_data_handle_t> handles(kChains);
    for (std::size_t i = 0; i < kChains; ++i)
      starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM,
                                    reinterpret_cast<std::uintptr_t>(&values[i]), sizeof values[i]);
    starpu_pause();
    for (int step = 0; step < kLength; ++step)
      for (std::size_t i = 0; i < kChains; ++i) {
        starpu_task* task = starpu_task_create();
        task->cl = &codelet;
        task->handles[0] = handles[i];
        ASSERT_EQ(starpu_task_submit(task), 0);
      }
    starpu_resume();
    starpu_task_wait_for_all();
    for (starpu_data_handle_t h : handles) starpu_data_unregister(h);
    for (const std::int64_t v : values) ASSERT_EQ(v, kLength);
    starpu_shutdown();
  }
}

}  // namespace
}  // namespace espalier::starpu
