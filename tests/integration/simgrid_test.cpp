#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tests/support/run_command.hpp"

namespace espalier::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

#define SIMGRID_OR_SKIP()                                 \
  if (std::getenv("ESPALIER_SIMGRID") == nullptr)         \
  GTEST_SKIP() << "espalier-simgrid is not part of this " \
                  "build"

nlohmann::json simulate(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{"simulate", "cholesky:6", "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult r = run_espalier(arguments);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return nlohmann::json::parse(r.out, nullptr, false);
}

TEST(Simgrid, StarpusPoliciesRunOnAMachineOfOurs) {
  SIMGRID_OR_SKIP();
  for (const char* policy : {"starpu:dmdas", "starpu:lws", "starpu:heteroprio", "starpu:modular-heft"}) {
    const auto r = simulate({"--platform", "node-2cpu-4gpu", "--engine", "simgrid", "--scheduler", policy});
    EXPECT_EQ(r["engine"], "simgrid");
    EXPECT_THAT(r["engine_version"].get<std::string>(), HasSubstr("StarPU 1."));
    EXPECT_GE(r["makespan"].get<double>(), r["bounds"]["best"].get<double>()) << policy;
    EXPECT_GT(r["transfer_bytes"].get<double>(), 0) << policy;
  }
}

TEST(Simgrid, PlansAndOurPoliciesRunAndAreTheSameEachTime) {
  SIMGRID_OR_SKIP();
  for (const char* scheduler : {"heft_topcuoglu2002", "dmdas", "affinity_eager", "hybrid_both"}) {
    const std::vector<std::string> how{"--platform", "node-2cpu-4gpu", "--engine",
                                       "simgrid",    "--scheduler",    scheduler};
    const auto first = simulate(how), second = simulate(how);
    EXPECT_EQ(first["makespan"], second["makespan"]) << scheduler;
    EXPECT_GE(first["makespan"].get<double>(), first["bounds"]["best"].get<double>()) << scheduler;
  }
}

TEST(Simgrid, HintsOfAPlan) {
  SIMGRID_OR_SKIP();
  for (const char* hybrid : {"allocation", "order", "both"}) {
    const auto r = simulate({"--platform", "node-2cpu-4gpu", "--engine", "simgrid", "--scheduler",
                             "heft_topcuoglu2002", "--hybrid", hybrid});
    EXPECT_GE(r["makespan"].get<double>(), r["bounds"]["best"].get<double>()) << hybrid;
  }
}

TEST(Simgrid, ExplicitDependenciesAndUnitLessGraphs) {
  SIMGRID_OR_SKIP();
  const CommandResult r =
      run_espalier({"simulate", "layered:layers=4,width=3", "--platform", "identical:3", "--engine",
                    "simgrid", "--scheduler", "heft_topcuoglu2002", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_GE(json["makespan"].get<double>(), json["bounds"]["best"].get<double>());
}

TEST(Simgrid, CompareSetsEnginesAgainstEachOther) {
  SIMGRID_OR_SKIP();
  const CommandResult r =
      run_espalier({"compare", "cholesky:6", "--platform", "node-2cpu-4gpu", "--engines", "model,simgrid",
                    "--schedulers", "heft_topcuoglu2002,dmda,starpu:dmda", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto c = nlohmann::json::parse(r.out)["cases"][0];
  ASSERT_EQ(c["engines"].size(), 2U);
  for (const auto& d : c["engines"]) {
    // the parts add up to the difference
    double sum = 0;
    for (const auto& part : d["made_of"]) sum += part.get<double>();
    EXPECT_NEAR(sum, d["difference"].get<double>(), 1e-6);
  }
  EXPECT_EQ(c["schedulers"][0]["engine"], "model");
}

TEST(Simgrid, GradientsByAllReduceRun) {
  SIMGRID_OR_SKIP();
  for (const char* scheduler : {"starpu:dmdas", "dmdas", "heft_topcuoglu2002"}) {
    const CommandResult r =
        run_espalier({"simulate", "squeezenet1_0", "--mode", "training", "--batch", "4", "--micro-batches",
                      "2", "--gradients", "all-reduce", "--platform", "dgx-1", "--engine", "simgrid",
                      "--scheduler", scheduler, "--json"});
    ASSERT_EQ(r.exit_code, 0) << r.err;
    const auto json = nlohmann::json::parse(r.out);
    EXPECT_GE(json["makespan"].get<double>(), json["bounds"]["best"].get<double>()) << scheduler;
  }
}

TEST(Simgrid, ValidateSetsTheEnginesAgainstEachOtherOnMachinesThatAreNotThere) {
  for (const auto& [arguments, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"mobilenet_v2", "--platform", "local", "--platform", "dgx-1"}, "apart"},
           {{"cholesky:4"}, "no kernels"},
           {{"mobilenet_v2", "--platform", "dgx-1", "--cores", "2"}, "--micro-batches"}}) {
    std::vector<std::string> all{"validate"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult refused = run_espalier(all);
    EXPECT_EQ(refused.exit_code, 2) << says;
    EXPECT_THAT(refused.err, HasSubstr(says));
  }
  SIMGRID_OR_SKIP();
  const CommandResult r = run_espalier({"validate", "squeezenet1_0", "--platform", "hetero-2v100-2p100",
                                        "--schedulers", "dmdas,heft_topcuoglu2002", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto c = nlohmann::json::parse(r.out)["cases"][0];
  ASSERT_EQ(c["schedulers"].size(), 2U);
  for (const auto& s : c["schedulers"]) {
    EXPECT_GT(s["wall_seconds"]["simgrid"].get<double>(), s["wall_seconds"]["model"].get<double>());
    double sum = 0;
    for (const auto& part : s["made_of"]) sum += part.get<double>();
    EXPECT_NEAR(sum, s["difference"].get<double>(), 1e-6);
  }
}

TEST(Simgrid, AMachineTooLargeSaysHowToRaiseTheLimit) {
  SIMGRID_OR_SKIP();
  const fs::path file = fs::temp_directory_path() / ("large_" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file)
      << "name: large\nkinds:\n  core: {type: cpu, peak: 10 Gflop/s, memory_bandwidth: 4 GB/s}\n"
         "memories:\n  main: 64 GiB\ndevices:\n  - {name: cpu, kind: core, count: 2000, memory: main}\n";
  const CommandResult r = run_espalier({"simulate", "cholesky:2", "--platform", file.string(), "--engine",
                                        "simgrid", "--scheduler", "starpu:eager"});
  fs::remove(file);
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("2000"), HasSubstr("ESPALIER_SIMGRID_CPUS")));
}

TEST(Simgrid, WrongNamesAndEnginesAreRefused) {
  const CommandResult engine = run_espalier(
      {"simulate", "cholesky:2", "--platform", "cpu-1", "--engine", "magic", "--scheduler", "dmda"});
  EXPECT_EQ(engine.exit_code, 2);
  EXPECT_THAT(engine.err, AllOf(HasSubstr("model"), HasSubstr("simgrid")));
  const CommandResult model =
      run_espalier({"simulate", "cholesky:2", "--platform", "cpu-1", "--scheduler", "starpu:dmdas"});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, HasSubstr("--engine simgrid"));
  SIMGRID_OR_SKIP();
  const CommandResult policy = run_espalier({"simulate", "cholesky:2", "--platform", "cpu-1", "--engine",
                                             "simgrid", "--scheduler", "starpu:nothing"});
  EXPECT_EQ(policy.exit_code, 2);
  EXPECT_THAT(policy.err, AllOf(HasSubstr("nothing"), HasSubstr("dmdas")));
}

/// Runs with another program in place of espalier-simgrid.
CommandResult with_program(const std::string& script, const char* timeout = "1") {
  const fs::path file = fs::temp_directory_path() / ("stand_in_" + std::to_string(::getpid()));
  std::ofstream(file) << "#!/bin/sh\n" << script;
  fs::permissions(file, fs::perms::owner_all);
  const char* before = std::getenv("ESPALIER_SIMGRID");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("ESPALIER_SIMGRID", file.c_str(), 1);
  ::setenv("ESPALIER_SIMGRID_TIMEOUT", timeout, 1);
  const CommandResult r = run_espalier({"simulate", "cholesky:2", "--platform", "cpu-1", "--engine",
                                        "simgrid", "--scheduler", "starpu:eager"});
  ::unsetenv("ESPALIER_SIMGRID_TIMEOUT");
  if (saved.empty())
    ::unsetenv("ESPALIER_SIMGRID");
  else
    ::setenv("ESPALIER_SIMGRID", saved.c_str(), 1);
  fs::remove(file);
  return r;
}

TEST(Simgrid, AChildThatCrashesHangsOrFailsIsToldWithItsLastWords) {
  const CommandResult crash = with_program("echo last words >&2; kill -SEGV $$\n");
  EXPECT_EQ(crash.exit_code, 1);
  EXPECT_THAT(crash.err, AllOf(HasSubstr("crashed"), HasSubstr("last words")));
  const CommandResult hang = with_program("echo still here; sleep 30\n");
  EXPECT_EQ(hang.exit_code, 1);
  EXPECT_THAT(hang.err, AllOf(HasSubstr("stopped after 1 s"), HasSubstr("ESPALIER_SIMGRID_TIMEOUT")));
  const CommandResult fail = with_program("exit 5\n");
  EXPECT_EQ(fail.exit_code, 1);
  EXPECT_THAT(fail.err, HasSubstr("exit code 5"));
}

TEST(Simgrid, ASignalEndsTheChildAndLeavesNoFiles) {
  const fs::path folder = fresh_folder("simgrid_signal"), temporary = folder / "tmp";
  fs::create_directory(temporary);
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before != nullptr ? before : "";
  for (const auto& [signal, exit_code] : {std::pair{"INT", 130}, {"TERM", 143}, {"HUP", 129}}) {
    const fs::path number = folder / "child";
    ::setenv("TMPDIR", temporary.c_str(), 1);
    // the child sends the signal to us itself: it certainly runs by then
    const CommandResult r = with_program(
        fmt::format("echo $$ > {}\nkill -{} $PPID\nexec sleep 500\n", number.string(), signal), "300");
    if (before != nullptr)
      ::setenv("TMPDIR", saved.c_str(), 1);
    else
      ::unsetenv("TMPDIR");
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_TRUE(fs::is_empty(temporary)) << fs::directory_iterator(temporary)->path();
    pid_t child = 0;
    std::ifstream(number) >> child;
    ASSERT_GT(child, 0);
    EXPECT_EQ(::kill(child, 0), -1) << "the child still runs";
    EXPECT_EQ(errno, ESRCH);
  }
  fs::remove_all(folder);
}

TEST(Simgrid, ASignalEndsAComparisonWithWhatWasDone) {
  SIMGRID_OR_SKIP();
  const fs::path folder = fresh_folder("simgrid_compare");
  const std::string own = std::getenv("ESPALIER_SIMGRID");
  const fs::path program = folder / "program";
  // the first job runs, the second one sends the signal
  std::ofstream(program) << fmt::format(
      "#!/bin/sh\n[ -e {0} ] || {{ touch {0}; exec {1} \"$@\"; }}\nkill -INT $PPID\nsleep 500\n",
      (folder / "done").string(), own);
  fs::permissions(program, fs::perms::owner_all);
  ::setenv("ESPALIER_SIMGRID", program.c_str(), 1);
  const CommandResult r =
      run_espalier({"compare", "cholesky:2", "--platform", "cpu-1", "--engines", "simgrid", "--schedulers",
                    "starpu:eager,starpu:lws,starpu:dmda", "--json"});
  ::setenv("ESPALIER_SIMGRID", own.c_str(), 1);
  EXPECT_EQ(r.exit_code, 3) << r.err;
  EXPECT_THAT(r.err, HasSubstr("interrupted"));
  const auto rows = nlohmann::json::parse(r.out)["cases"][0]["schedulers"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["scheduler"], "starpu:eager");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace espalier::test
