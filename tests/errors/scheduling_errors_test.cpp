#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/file_io.hpp"
#include "tests/support/run_command.hpp"

/// Wrong input to plan, simulate, compare and run: each is named with what it is about, exit code 2.
namespace espalier::test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

/// Two cores of 64 GiB and one GPU; what is given in place of a part is wrong in one way.
struct Machine {
  std::string peak = "50 Gflop/s", gpu_memory = "16 GiB", main_memory = "64 GiB", gpu_peak = "14 Tflop/s";
  std::string link = "{from: main, to: [gpu0], bandwidth: 12 GB/s, latency: 5 us}";
  std::string yaml() const {
    return "name: odd\nkinds:\n  core: {type: cpu, peak: " + peak +
           ", memory_bandwidth: 8 GB/s}\n  gpu: {type: cuda, peak: " + gpu_peak +
           ", memory_bandwidth: 900 GB/s}\nmemories:\n  main: " + main_memory +
           "\ndevices:\n  - {name: cpu, kind: core, count: 2, memory: main}\n  - {name: gpu, kind: gpu, "
           "count: "
           "1, memory: " +
           gpu_memory + "}\n" + (link.empty() ? "links: []\n" : "links:\n  - " + link + "\n");
  }
};

class SchedulingErrors : public ::testing::Test {
 protected:
  std::string folder = fresh_folder("scheduling_errors");

  std::string file(const std::string& name, const std::string& text) {
    write_file(folder + "/" + name, text);
    return folder + "/" + name;
  }
  /// plan, simulate and compare refuse it with every word of `say`.
  void all_refuse(const std::string& graph, const std::string& platform, const Words& more,
                  const Words& say) {
    for (const Words& command :
         {Words{"plan", "--scheduler", "heft_topcuoglu2002"}, Words{"simulate", "--scheduler", "dmdas"},
          Words{"compare", "--schedulers", "eager,heft_topcuoglu2002"}}) {
      Words arguments = command;
      arguments.insert(arguments.end(), {graph, "--platform", platform});
      arguments.insert(arguments.end(), more.begin(), more.end());
      refuse(arguments, say);
    }
  }
  void refuse(const Words& arguments, const Words& say) {
    const CommandResult r = run_espalier(arguments);
    EXPECT_EQ(r.exit_code, 2) << arguments[0] << ": " << r.out << r.err;
    for (const std::string& word : say) EXPECT_THAT(r.err, HasSubstr(word)) << arguments[0];
  }
};

TEST_F(SchedulingErrors, ATimeLimitOfNothing) {
  for (const std::string limit : {"0", "-1", "nan"}) {
    all_refuse("cholesky:4", "dgx-1", {"--time-limit", limit}, {"--time-limit", "more than 0"});
    refuse({"run", "squeezenet1_0", "--scheduler", "best", "--time-limit", limit},
           {"--time-limit", "more than 0"});
  }
}

TEST_F(SchedulingErrors, ACyclicGraphNamesACycle) {
  const std::string graph =
      file("c.dot", "digraph g { a [weight=1]; b [weight=2]; c [weight=1]; a -> b; b -> c; c -> a; }");
  all_refuse(graph, "identical:2", {}, {"c.dot", "cycle", "a -> b -> c -> a"});
  refuse({"run", graph}, {"c.dot", "task graph"});
}

TEST_F(SchedulingErrors, AnUnknownUnitIsNamedWithThoseKnown) {
  Machine m;
  m.peak = "3 parsec/s";
  all_refuse("cholesky:4", file("peak.yaml", m.yaml()), {}, {"peak.yaml:3", "parsec/s", "Gflop/s"});
  m = {};
  m.gpu_memory = "16 GiBi";
  all_refuse("cholesky:4", file("memory.yaml", m.yaml()), {}, {"memory.yaml:9", "GiBi", "GiB"});
}

TEST_F(SchedulingErrors, AnUnreachableLink) {
  Machine m;
  m.link = "";
  all_refuse("cholesky:4", file("cut.yaml", m.yaml()), {}, {"cut.yaml", "gpu0", "no route"});
  m.link = "{from: main, to: [gpu7], bandwidth: 12 GB/s, latency: 5 us}";
  all_refuse("cholesky:4", file("far.yaml", m.yaml()), {}, {"far.yaml:11", "gpu7"});
}

TEST_F(SchedulingErrors, MemoryTooSmallForOneTaskNamesItAndBothSizes) {
  Machine m;
  m.gpu_memory = "1 MiB";
  m.main_memory = "4 MiB";
  // three tiles of 960 x 960 floats: the second task reads one and updates one, 7372800 bytes
  all_refuse("cholesky:4", file("small.yaml", m.yaml()), {}, {"chol_model_trsm 1", "7372800", "4194304"});
}

TEST_F(SchedulingErrors, ATaskThatNoDeviceCanRun) {
  const std::string platform = file("idle.yaml",
                                    "name: idle\nkinds:\n  gpu: {type: cuda}\nmemories:\n  main: 64 GiB\n"
                                    "devices:\n  - {name: gpu, kind: gpu, count: 2, memory: main}\n");
  all_refuse("squeezenet1_0", platform, {}, {"idle", "no device", "conv2d_forward"});
}

TEST_F(SchedulingErrors, APlanForAnotherGraphOrPlatformSaysWhatDiffers) {
  Machine m;
  const std::string platform = file("good.yaml", m.yaml()), plan = folder + "/plan.json";
  ASSERT_EQ(run_espalier({"plan", "cholesky:4", "--platform", platform, "--scheduler", "heft_topcuoglu2002",
                          "--out", plan})
                .exit_code,
            0);
  const auto simulate = [&](const std::string& graph, const std::string& where) {
    return Words{"simulate", graph, "--platform", where, "--plan", plan};
  };
  EXPECT_EQ(run_espalier(simulate("cholesky:4", platform)).exit_code, 0);
  refuse(simulate("cholesky:5", platform), {"plan.json", "another graph", "20 tasks", "35"});
  refuse(simulate("cholesky:4", "dgx-1"), {"plan.json", "another platform", "3 workers"});
  m.gpu_memory = "8 GiB";
  refuse(simulate("cholesky:4", file("less.yaml", m.yaml())), {"another platform", "capacities"});
  refuse({"run", "squeezenet1_0", "--plan", plan}, {"plan.json", "another graph", "--batch"});
  refuse({"run", "squeezenet1_0", "--plan", folder + "/none.json"}, {"none.json"});
}

TEST_F(SchedulingErrors, ValidateNamesWhatItDoesNotKnow) {
  refuse({"validate", "cholesky:4"}, {"task graph"});
  refuse({"validate", "squeezenet1_0", "--schedulers", "heft_topcuoglu2002", "--time-limit", "0"},
         {"--time-limit"});
  refuse({"validate"}, {});
}

}  // namespace
}  // namespace espalier::test
