#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graphs/base/file_io.hpp"
#include "tests/support/run_command.hpp"

namespace espalier::test {
namespace {

using ::testing::HasSubstr;

TEST(CompareCommand, WritesPageJsonCsvAndTraces) {
  const std::string folder = fresh_folder("compare");
  const CommandResult r =
      run_espalier({"compare", "cholesky:5", "--platform", "node-2cpu-4gpu", "--schedulers",
                    "heft_topcuoglu2002,minmin", "--report", folder + "/r.html", "--json", folder + "/r.json",
                    "--csv", folder + "/r.csv", "--traces", folder + "/traces"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("wins with"));
  const auto json = nlohmann::json::parse(read_file(folder + "/r.json"));
  // cholesky:5 has 5 + 10 + 10 + 10 tasks
  EXPECT_EQ(json["cases"][0]["tasks"], 35);
  EXPECT_EQ(json["cases"][0]["schedulers"].size(), 2U);
  EXPECT_THAT(read_file(folder + "/r.html"), HasSubstr("<!doctype html>"));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/traces")) {
    ++files;
    if (entry.path().extension() == ".json") {
      EXPECT_FALSE(nlohmann::json::parse(read_file(entry.path()), nullptr, false).is_discarded());
    }
  }
  EXPECT_EQ(files, 2U * 2 + 1);
}

TEST(CompareCommand, PrintsTheSameJsonAgainButForItsOwnTime) {
  const auto run = [] {
    const CommandResult r =
        run_espalier({"compare", "--json", "--platform", "identical:3", "layered:layers=4,width=3",
                      "--schedulers", "heft_topcuoglu2002,cpop_topcuoglu2002"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    auto json = nlohmann::json::parse(r.out);
    for (auto& row : json["cases"][0]["schedulers"]) {
      row.erase("scheduler_seconds");
      row.erase("engine_seconds");
    }
    return json;
  };
  EXPECT_EQ(run(), run());
}

TEST(CompareCommand, SetsEnginesAgainstRealRuns) {
  const bool simgrid = std::getenv("ESPALIER_SIMGRID") != nullptr;
  const std::string engines = simgrid ? "model,simgrid,starpu" : "model,starpu";
  const CommandResult r = run_espalier(
      {"compare", "squeezenet1_0", "--batch", "2", "--platform", "local", "--engines", engines,
       "--schedulers", "starpu:lws,heft_topcuoglu2002/both", "--iterations", "3", "--rounds", "1", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto c = nlohmann::json::parse(r.out)["cases"][0];
  EXPECT_EQ(c["schedulers"].size(), simgrid ? 6U : 4U);
  ASSERT_EQ(c["engines"].size(), simgrid ? 4U : 2U);
  for (const auto& d : c["engines"]) {
    EXPECT_EQ(d["reference"], "model");
    double sum = 0;  // the parts add up to the difference
    for (const auto& part : d["made_of"]) sum += part.get<double>();
    EXPECT_NEAR(sum, d["difference"].get<double>(), 1e-6) << d["engine"];
  }
  for (const auto& row : c["schedulers"]) {
    EXPECT_GT(row["makespan"].get<double>(), 0);
    EXPECT_EQ(row.contains("measured"), row["engine"] == "starpu");
    if (!row.contains("measured")) continue;
    // of three runs the median is one of them
    const auto seconds = row["measured"]["seconds"].get<std::vector<double>>();
    EXPECT_EQ(seconds.size(), 3U);
    EXPECT_EQ(std::count(seconds.begin(), seconds.end(), row["makespan"].get<double>()), 1);
  }
  EXPECT_EQ(c["schedulers"][0]["cost_sources"].size(), 1U);
  EXPECT_EQ(c["schedulers"][0]["cost_sources"].count("measured here"), 1U);
}

TEST(CompareCommand, RefusesWrongInputBeforeItWorks) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"cholesky:3", "--platform", "identical:2", "--schedulers", "nobody"}, "heft_topcuoglu2002"},
      {{"cholesky:3", "--platform", "identical:2", "--engines", "warp"}, "model"},
      {{"mobilenet_v2", "--platform", "dgx-1", "--engines", "model,starpu"}, "--platform local"},
      {{"cholesky:3", "--platform", "local", "--engines", "starpu"}, "no kernels"},
      {{"mobilenet_v2", "--mode", "training", "--platform", "local", "--engines", "starpu"}, "inference"},
      {{"cholesky:3", "--platform", "identical:2", "--schedulers", "eager/both"}, "makes no plan"},
      {{"cholesky:3", "--platform", "nowhere.yaml"}, "nowhere.yaml"},
      {{"cholesky:3", "--platform", "identical:2", "--report", "/no/such/folder/r.html"}, "does not exist"},
      {{"cholesky:3", "--platform", "identical:2", "--report", "/tmp"}, "is a folder"},
      {{"cholesky:3", "--platform", "identical:2", "--time-limit", "0"}, "--time-limit"},
      {{"cholesky:3", "--platform", "identical:2", "--real", "heft=-1"}, "--real"},
      {{"--platform", "identical:2"}, "GRAPH"},
  };
  for (const auto& [arguments, says] : cases) {
    std::vector<std::string> all = {"compare"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const CommandResult r = run_espalier(all);
    EXPECT_EQ(r.exit_code, 2) << says;
    EXPECT_THAT(r.err, HasSubstr(says));
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
}  // namespace espalier::test
