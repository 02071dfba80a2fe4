#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "experiments/run/local_problem.hpp"
#include "experiments/run/real_scheduler.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/passes/evaluate.hpp"
#include "runtime/plan/plan_json.hpp"
#include "runtime/starpu/network_session.hpp"
#include "runtime/task_graph/lower.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/task_layers.hpp"

namespace espalier {
namespace {

using test::random_task_graph;
using test::random_task_inputs;
using test::task_layers;
using ::testing::HasSubstr;

/// A lowered random graph whose classes take 1 to 5 us.
LocalProblem problem_of(const Graph& g, unsigned workers) {
  LoweringOptions lowering;
  lowering.workers = workers;
  lowering.target_seconds = 1e-9;
  LocalProblem local;
  local.prepared.program = std::make_shared<const NetworkProgram>(lower(g, task_layers(), lowering));
  local.prepared.workers = workers;
  local.platform = run_platform(workers, 1e-6);
  local.costs = CostTable(local.prepared.program->tasks.classes.size(), 1);
  for (CostClass c = 0; c < local.costs.classes(); ++c)
    local.costs.set(c, 0, Seconds(1e-6 * (1 + c % 5)), CostSource::given);
  local.time_limit = Seconds(0.05);
  return local;
}

TEST(RealSchedulers, EverySchedulerOfOursEqualsEvaluation) {
  starpu::Machine machine({std::string(starpu::kOwnPolicy), 0});
  std::uint64_t seed = 0;
  for (const SchedulerEntry& entry : all_schedulers()) {
    const Graph g = random_task_graph(++seed, 20, 2);
    const LocalProblem local = problem_of(g, machine.workers());
    starpu::SessionOptions options;
    options.record_trace = true;
    starpu::NetworkSession session(machine, local.prepared.program, task_layers(), options);
    const auto inputs = random_task_inputs(g, seed);
    for (std::size_t k = 0; k < g.inputs.size(); ++k)
      session.set_input(k, inputs.at(g.values[static_cast<std::size_t>(g.inputs[k])].name));
    const auto expected = evaluate(g, task_layers(), inputs);
    for (const std::string hybrid : {"", "allocation", "order", "both"}) {
      if (!hybrid.empty() && entry.make_static == nullptr) continue;
      RunRequest request;
      request.scheduler = entry.name;
      request.hybrid = hybrid;
      const RealScheduler real = make_real_scheduler(local, request);
      EXPECT_GT(real.predicted, 0) << entry.name;
      session.set_driver(real.driver.get());
      session.run();
      EXPECT_EQ(session.trace().tasks.size(), local.prepared.program->tasks.task_count());
      for (std::size_t k = 0; k < g.outputs.size(); ++k) {
        const Tensor got = session.output(k);
        const Tensor& want = expected.at(g.values[static_cast<std::size_t>(g.outputs[k])].name);
        for (std::size_t i = 0; i < got.as<float>().size(); ++i)
          ASSERT_EQ(got.as<float>()[i], want.as<float>()[i]) << entry.name << ' ' << hybrid;
      }
      session.set_driver(nullptr);
    }
  }
}

TEST(RealSchedulers, APlanForAnotherGraphOrPlatformIsRefused) {
  const auto file = std::filesystem::temp_directory_path() / ("espalier-plan-" + std::to_string(::getpid()));
  const LocalProblem local = problem_of(random_task_graph(1, 20, 2), 2);
  const LocalProblem other = problem_of(random_task_graph(2, 24, 2), 2);
  const LocalProblem wider = problem_of(random_task_graph(1, 20, 2), 3);
  RunRequest request;
  request.scheduler = "heft_topcuoglu2002";
  const RealScheduler real = make_real_scheduler(local, request);
  write_file(file, plan_to_json(*real.plan, local.prepared.program->tasks, local.platform));
  EXPECT_EQ(read_plan_for(file.string(), local).placements.size(),
            local.prepared.program->tasks.task_count());
  const auto refusal = [&](const LocalProblem& p) -> std::string {
    try {
      read_plan_for(file.string(), p);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal(other), HasSubstr("another graph"));
  EXPECT_THAT(refusal(other), HasSubstr("batch"));
  EXPECT_THAT(refusal(wider), HasSubstr("another"));
  std::filesystem::remove(file);
  request.scheduler = "eager";
  request.hybrid = "order";
  EXPECT_THROW(make_real_scheduler(local, request), InputError);
  request.hybrid = "nonsense";
  EXPECT_THROW(make_real_scheduler(local, request), InputError);
  request.hybrid.clear();
  request.scheduler = "nonsense";
  EXPECT_THROW(make_real_scheduler(local, request), InputError);
}

TEST(RealSchedulers, CalibrationMeasuresEveryClass) {
  // one worker: behind its first task every task was ready before it could start, so each run has gaps to
  // measure
  const Graph g = random_task_graph(1, 20, 2);
  const LocalProblem local = problem_of(g, 1);
  ASSERT_GE(local.prepared.program->tasks.task_count(), 2U);
  starpu::Machine machine({std::string(starpu::kOwnPolicy), 1});
  starpu::SessionOptions options;
  options.record_trace = true;
  starpu::NetworkSession session(machine, local.prepared.program, task_layers(), options);
  const auto inputs = random_task_inputs(g, 1);
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    session.set_input(k, inputs.at(g.values[static_cast<std::size_t>(g.inputs[k])].name));
  const CalibrationResult result =
      calibrate(session, {.relative_error = 0.5, .max_seconds = 0.2, .min_runs = 5});
  EXPECT_GE(result.runs, 3);
  EXPECT_EQ(result.costs.size(), local.prepared.program->tasks.classes.size());
  EXPECT_TRUE(result.costs.overhead.measured);
  EXPECT_GT(result.costs.overhead.samples, 0U);
  EXPECT_GT(result.costs.overhead.seconds, 0);
}

}  // namespace
}  // namespace espalier
