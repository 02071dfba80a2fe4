#include "runtime/starpu/plan_driver.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "runtime/starpu/network_session.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/task_graph/lower.hpp"
#include "tests/support/task_layers.hpp"

namespace espalier::starpu {
namespace {

using test::random_task_graph;
using test::random_task_inputs;
using test::task_layers;
using ::testing::HasSubstr;

constexpr PlanMode kModes[] = {PlanMode::strict, PlanMode::allocation, PlanMode::order, PlanMode::both};

std::shared_ptr<const NetworkProgram> program_of(const Graph& g, std::uint32_t workers = 2) {
  LoweringOptions options;
  options.workers = workers;
  options.target_seconds = 1e-9;
  return std::make_shared<const NetworkProgram>(lower(g, task_layers(), options));
}

/// Any worker for each task, in a random topological order.
Plan random_plan(const TaskGraph& graph, unsigned workers, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Plan plan;
  plan.scheduler = "random plan";
  plan.placements.resize(graph.task_count());
  std::vector<std::uint32_t> missing(graph.task_count()), count(workers, 0);
  std::vector<TaskId> ready;
  for (TaskId t = 0; t < missing.size(); ++t)
    if ((missing[t] = static_cast<std::uint32_t>(graph.predecessors(t).size())) == 0) ready.push_back(t);
  for (double time = 0; !ready.empty(); time += 1) {
    std::swap(ready[random() % ready.size()], ready.back());
    const TaskId t = ready.back();
    ready.pop_back();
    const auto w = static_cast<WorkerId>(random() % workers);
    plan.placements[t] = {w, count[w]++, time, time + 1};
    for (const TaskId s : graph.successors(t))
      if (--missing[s] == 0) ready.push_back(s);
  }
  return plan;
}

void give(NetworkSession& session, const Graph& g, const std::map<std::string, Tensor>& inputs) {
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    session.set_input(k, inputs.at(g.values[static_cast<std::size_t>(g.inputs[k])].name));
}

void expect_evaluated(const NetworkSession& session, const Graph& g,
                      const std::map<std::string, Tensor>& inputs) {
  const auto expected = evaluate(g, task_layers(), inputs);
  for (std::size_t k = 0; k < g.outputs.size(); ++k) {
    const Tensor got = session.output(k);
    const Tensor& want = expected.at(g.values[static_cast<std::size_t>(g.outputs[k])].name);
    for (std::size_t i = 0; i < got.as<float>().size(); ++i)
      ASSERT_EQ(got.as<float>()[i], want.as<float>()[i]);
  }
}

TEST(PlanDriver, RandomPlansOfRandomGraphsEqualEvaluation) {
  Machine machine({std::string(kOwnPolicy), 0});
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Graph g = random_task_graph(seed, 25, 2);
    const auto program = program_of(g);
    const Plan plan = random_plan(program->tasks, machine.workers(), seed);
    for (const PlanMode mode : kModes) {
      const auto driver = make_plan_driver(program.get(), program->tasks, plan, mode, machine.workers());
      SessionOptions options;
      options.driver = driver.get();
      options.record_trace = true;
      NetworkSession session(machine, program, task_layers(), options);
      for (std::uint64_t round = 0; round < 2; ++round) {
        const auto inputs = random_task_inputs(g, seed + 100 * round);
        give(session, g, inputs);
        session.run();
        expect_evaluated(session, g, inputs);
      }
      if (mode != PlanMode::strict) continue;
      const Trace trace = session.trace();
      EXPECT_EQ(trace.scheduler, "random plan");
      ASSERT_EQ(trace.tasks.size(), program->tasks.task_count());
      std::vector<std::uint32_t> next(machine.workers(), 0);
      for (const TaskEvent& e : trace.tasks) {  // events of one worker are in its order
        EXPECT_EQ(plan.placements[e.task].worker, e.worker);
        EXPECT_EQ(plan.placements[e.task].position, next[e.worker]++);
      }
    }
  }
}

TEST(PlanDriver, EnvironmentDoesNotReplaceThePolicy) {
  ::setenv("STARPU_SCHED", "eager", 1);
  const Graph g = random_task_graph(1, 25, 2);
  Machine machine({std::string(kOwnPolicy), 0});
  const auto program = program_of(g);
  Plan plan = random_plan(program->tasks, 1, 1);  // everything on worker 0
  const auto driver =
      make_plan_driver(program.get(), program->tasks, plan, PlanMode::strict, machine.workers());
  SessionOptions options;
  options.driver = driver.get();
  NetworkSession session(machine, program, task_layers(), options);
  give(session, g, random_task_inputs(g, 1));
  EXPECT_EQ(session.run().tasks[0], program->tasks.task_count());
  ::unsetenv("STARPU_SCHED");
}

TEST(PlanDriver, RefusesWhatCannotBeCarriedOut) {
  const Graph g = random_task_graph(3, 20, 2), other = random_task_graph(4, 22, 2);
  const auto program = program_of(g), another = program_of(other);
  const auto refused = [&](const TaskGraph& graph, const Plan& plan, unsigned workers) -> std::string {
    try {
      make_plan_driver(program.get(), graph, plan, PlanMode::strict, workers);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const Plan plan = random_plan(program->tasks, 2, 3);
  ASSERT_NE(program->tasks.task_count(), another->tasks.task_count());
  EXPECT_THAT(refused(another->tasks, plan, 2), HasSubstr("another graph"));
  EXPECT_THAT(refused(program->tasks, random_plan(program->tasks, 4, 3), 2), HasSubstr("2 workers run here"));
  TaskGraphBuilder builder;
  const DataId datum = builder.add_data({Bytes(64)});
  const Access update{datum, AccessMode::read_write};
  static_cast<void>(builder.add_class({"step", "", Flops(0), Bytes(0)}));
  for (int i = 0; i < 3; ++i) builder.add_task({}, {&update, 1});
  const TaskGraph chain = builder.build();
  Plan backwards;
  for (std::uint32_t i = 0; i < 3; ++i) backwards.placements.push_back({0, 2 - i, 0, 0});
  EXPECT_THAT(refused(chain, backwards, 1), HasSubstr("cannot be carried out"));
  Plan twice = plan;
  for (Placement& p : twice.placements) p = {0, 0, 0, 0};
  EXPECT_THAT(refused(program->tasks, twice, 2), HasSubstr("to two tasks"));
}

/// x -> Affine ... -> Refuse -> Affine ...: a chain whose middle fails for negative input.
Graph refusing_chain() {
  Graph g;
  const TensorType type{DType::f32, Shape{1, 2}};
  ValueId v = g.add_value("x", type);
  g.inputs = {v};
  for (int i = 0; i < 9; ++i) {
    v = g.add_node(i == 4 ? "Refuse" : "Affine", "n" + std::to_string(i), {v}, {"v" + std::to_string(i)})
            .outputs[0];
    g.values[static_cast<std::size_t>(v)].type = type;
  }
  g.outputs = {v};
  return g;
}

TEST(PlanDriver, AFailingTaskEndsTheRunWithItsErrorAndTheNextRunIsWhole) {
  const Graph g = refusing_chain();
  const auto program = program_of(g);
  Machine machine({std::string(kOwnPolicy), 0});
  const Plan plan = random_plan(program->tasks, machine.workers(), 5);
  const std::vector<float> bad{-1e6F, 0}, good{1, 0};
  for (const PlanMode mode : kModes) {
    const auto driver = make_plan_driver(program.get(), program->tasks, plan, mode, machine.workers());
    SessionOptions options;
    options.driver = driver.get();
    NetworkSession session(machine, program, task_layers(), options);
    session.set_input(0, Tensor::of<float>(Shape{1, 2}, bad));
    EXPECT_THROW(session.run(), InputError);
    session.set_input(0, Tensor::of<float>(Shape{1, 2}, good));
    EXPECT_NO_THROW(session.run());
  }
}

/// Eight micro-batches of a chain; the stop flag is raised before or while they are submitted.
TEST(PlanDriver, AnInterruptedRunEnds) {
  MicroBatches cut;
  Graph g;
  const TensorType type{DType::f32, Shape{1, 3}};
  ValueId v = g.add_value("x", type);
  g.inputs = {v};
  for (int i = 0; i < 6; ++i) {
    v = g.add_node("Affine", "a" + std::to_string(i), {v}, {"v" + std::to_string(i)}).outputs[0];
    g.values[static_cast<std::size_t>(v)].type = type;
  }
  g.outputs = {v};
  cut.batch = 64;
  cut.variants.push_back({std::make_shared<const Graph>(std::move(g)), 1});
  cut.units.assign(64, 0);
  cut.input_axes = cut.output_axes = {0};
  LoweringOptions lowering;
  lowering.slots = 4;
  lowering.target_seconds = 1e-9;
  const auto program = std::make_shared<const NetworkProgram>(lower(cut, task_layers(), lowering));
  Machine machine({std::string(kOwnPolicy), 0});
  std::atomic<bool> stop{false};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan plan = random_plan(program->tasks, machine.workers(), seed);
    const auto driver =
        make_plan_driver(program.get(), program->tasks, plan, kModes[seed % 4], machine.workers());
    SessionOptions options;
    options.driver = driver.get();
    options.stop = &stop;
    NetworkSession session(machine, program, task_layers(), options);
    stop = false;
    std::thread interrupter([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(30 * seed));
      stop = true;
    });
    session.run();
    interrupter.join();
    session.run();  // stopped from the start
    stop = false;
    EXPECT_FALSE(session.run().interrupted);
  }
}

/// First come, first served, with faults on demand.
class FaultyPolicy final : public OnlinePolicy {
 public:
  enum class Fault { none, throws, withholds, wrong };
  explicit FaultyPolicy(Fault fault) : fault_(fault) {}
  void begin(const SchedulingProblem&, RuntimeView&) override { ready_.clear(); }
  void ready(TaskId task) override {
    if (fault_ == Fault::throws && task == 0) throw InternalError("not this task, please");
    ready_.push_back(task);
  }
  TaskId pick(WorkerId) override {
    if (ready_.empty() || fault_ == Fault::withholds) return kNoTask;
    const TaskId task = ready_.back();
    ready_.pop_back();
    return fault_ == Fault::wrong ? task + 1000 : task;
  }
  void done(TaskId, WorkerId) override {}

 private:
  Fault fault_;
  std::vector<TaskId> ready_;
};

TEST(OnlineDriver, APolicyThatFailsIsReportedAndNothingHangs) {
  const Graph g = random_task_graph(7, 25, 2);
  const auto program = program_of(g);
  Machine machine({std::string(kOwnPolicy), 0});
  Platform platform;
  platform.name = "local";
  platform.kinds.resize(1);
  platform.memories.emplace_back().name = "main";
  for (unsigned w = 0; w < machine.workers(); ++w)
    platform.workers.push_back({"cpu" + std::to_string(w), 0, 0});
  CostTable costs(program->tasks.classes.size(), 1);
  for (CostClass c = 0; c < program->tasks.classes.size(); ++c)
    costs.set(c, 0, Seconds(1e-6), CostSource::given);
  const SchedulingProblem problem{program->tasks, platform, costs};
  using Fault = FaultyPolicy::Fault;
  const std::pair<Fault, std::string> cases[] = {{Fault::none, ""},
                                                 {Fault::throws, "not this task"},
                                                 {Fault::withholds, "keeps back"},
                                                 {Fault::wrong, "not ready"}};
  for (const auto& [fault, message] : cases) {
    const auto driver =
        make_online_driver(program.get(), problem, std::make_unique<FaultyPolicy>(fault), "faulty");
    SessionOptions options;
    options.driver = driver.get();
    NetworkSession session(machine, program, task_layers(), options);
    const auto inputs = random_task_inputs(g, 7);
    give(session, g, inputs);
    std::string said;
    try {
      session.run();
    } catch (const InternalError& e) {
      said = e.what();
    }
    if (message.empty())
      EXPECT_EQ(said, "");
    else
      EXPECT_THAT(said, HasSubstr(message));
    expect_evaluated(session, g, inputs);
  }
}

}  // namespace
}  // namespace espalier::starpu
