#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/sampling/machine_xml.hpp"
#include "runtime/sampling/performance_model.hpp"
#include "runtime/sampling/sampled_machine.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier::sampling {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

/// One GPU beside three cores, of which the GPU takes one; 1 GB/s each way.
constexpr const char* kXml = R"(<?xml version='1.0'?>
<platform version="4">
 <AS id="AS0" routing="Full">
  <host id="MAIN" speed="1f"/><host id="RAM" speed="1f"/>
  <host id="CPU0" speed="1f"/><host id="CPU1" speed="1f"/><host id="CPU2" speed="1f"/>
  <host id="CUDA0" speed="1f"><prop id="memsize" value="1000000000"/><prop id="memcpy_peer" value="1"/></host>
  <link id="down" bandwidth="1e9Bps" latency="0.00001s"/>
  <link id="up" bandwidth="1GBps" latency="10us"/>
  <route src="RAM" dst="CUDA0" symmetrical="NO"><link_ctn id="down"/></route>
  <route src="CUDA0" dst="RAM" symmetrical="NO"><link_ctn id="up"/></route>
 </AS>
</platform>
)";
constexpr const char* kMatrix = "# from to\n0.0\t1000.0\tnan\n1000.0\t0.0\tnan\nnan\tnan\tnan\n";

PerformanceModel model_of(double cpu_us, double gpu_us, double bytes) {
  PerformanceModel m;
  m.archs.push_back({ArchType::cpu, 0, 1, {{1, bytes, 0, cpu_us, 0, 0, 0, 10}}});
  m.archs.push_back({ArchType::cuda, 0, 1, {{1, bytes, 0, gpu_us, 0, 0, 0, 10}}});
  return m;
}

class SamplingDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("sampling_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "bus");
    fs::create_directories(folder_ / "codelets/45");
    write_file(folder_ / "bus/toy.platform.v4.xml", kXml);
    write_file(folder_ / "bus/toy.bandwidth", kMatrix);
    write_file(folder_ / "bus/toy.latency", kMatrix);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write_model(const std::string& symbol, const PerformanceModel& m) {
    write_file(folder_ / "codelets/45" / (symbol + ".toy"), performance_model_to_text(m));
  }
  fs::path folder_;
};

TEST(PerformanceModelFile, WhatIsWrittenIsReadAgain) {
  const PerformanceModel m = model_of(100, 10, 4096);
  const PerformanceModel again = read_performance_model(performance_model_to_text(m), "again");
  ASSERT_EQ(again.archs.size(), 2U);
  EXPECT_EQ(again.archs[1].type, ArchType::cuda);
  EXPECT_DOUBLE_EQ(again.archs[1].measurements[0].mean, 10);
  EXPECT_EQ(again.archs[0].measurements[0].count, 10U);
}

TEST(PerformanceModelFile, AnotherVersionIsRefused) {
  EXPECT_THAT(error_of([] { read_performance_model("# v\n44\n0\n", "m.host"); }),
              AllOf(HasSubstr("m.host:2"), HasSubstr("version 44"), HasSubstr("45")));
}

TEST(PerformanceModelFile, ACutOffFileNamesTheLine) {
  const std::string text = performance_model_to_text(model_of(100, 10, 4096));
  for (std::size_t cut = 0; cut + 2 < text.size(); cut += 7)
    EXPECT_NE(error_of([&] { read_performance_model(text.substr(0, cut), "m"); }), "no error") << cut;
}

TEST(MachineXmlFile, WhatIsWrittenIsReadAgain) {
  const MachineXml xml = read_machine_xml(kXml, "toy");
  const MachineXml again = read_machine_xml(machine_xml_to_text(xml), "again");
  EXPECT_EQ(again.hosts.size(), 6U);
  EXPECT_EQ(again.routes.size(), 2U);
  EXPECT_DOUBLE_EQ(again.links[0].latency, 1e-5);
  EXPECT_DOUBLE_EQ(again.links[1].latency, 1e-5);
  EXPECT_DOUBLE_EQ(again.links[1].bandwidth, 1e9);
}

TEST(MachineXmlFile, BadTextsNameTheirPlace) {
  EXPECT_THAT(error_of([] { read_machine_xml("<platform><AS>\n<link id='a'", "x"); }), HasSubstr("x:2"));
  EXPECT_THAT(error_of([] {
                read_machine_xml(
                    "<platform><AS>\n<link id='a' bandwidth='fast' latency='0s'/></AS></platform>", "x");
              }),
              AllOf(HasSubstr("x:2"), HasSubstr("fast")));
  EXPECT_THAT(error_of([] {
                read_machine_xml(
                    "<platform><AS><host id='A'/><host id='B'/>\n<route src='A' dst='C'/></AS></platform>",
                    "x");
              }),
              HasSubstr("C"));
}

TEST_F(SamplingDirectory, TheGpuTakesACoreAndATenthOfMemoryIsKeptBack) {
  const SampledMachine m = read_sampled_machine(folder_, "toy");
  // 3 cores - 1 for the GPU = 2 CPU workers, and the GPU
  ASSERT_EQ(m.platform.workers.size(), 3U);
  EXPECT_EQ(m.platform.kind_of(2).name, "cuda0");
  EXPECT_EQ(m.platform.memories[1].capacity.value, 900'000'000);
  // 1e9 bytes over 1e9 byte/s with 10 us of latency
  EXPECT_NEAR(m.platform.transfer_time(Bytes(1'000'000'000), 0, 1).value, 1.00001, 1e-9);
}

TEST_F(SamplingDirectory, OlderSetsServeCholesky) {
  // tiles of 960 x 960 x 4 = 3686400 bytes; potrf has one, trsm two, gemm three
  write_model("chol_model_11", model_of(300, 30, 3686400));
  write_model("chol_model_21", model_of(400, 40, 2 * 3686400));
  write_model("chol_model_22", model_of(500, 50, 3 * 3686400));
  const LoadedTaskGraph loaded = generate("cholesky:3");
  const SampledCosts costs(read_sampled_machine(folder_, "toy"), loaded.graph);
  const CostModel* models[] = {&costs};
  const Platform platform = read_sampled_machine(folder_, "toy").platform;
  const CostTable table = make_cost_table(loaded.graph, platform, models);
  for (CostClass c = 0; c < loaded.graph.classes.size(); ++c) {
    const std::string& codelet = loaded.graph.classes[c].codelet;
    const double us = codelet == "chol_model_potrf"  ? 30
                      : codelet == "chol_model_trsm" ? 40
                      : codelet == "chol_model_gemm" ? 50
                                                     : 25;  // syrk: half of gemm
    EXPECT_NEAR(table.seconds(c, 1), us * 1e-6, 1e-12) << codelet;
    EXPECT_NEAR(table.seconds(c, 0), us * 1e-5, 1e-12) << codelet;
  }
}

TEST_F(SamplingDirectory, MissingCostsNameCodeletMachineAndSizes) {
  write_model("chol_model_potrf", model_of(300, 30, 1000));
  const SampledMachine m = read_sampled_machine(folder_, "toy");
  const LoadedTaskGraph loaded = generate("cholesky:3");
  EXPECT_THAT(
      error_of([&] { SampledCosts(m, loaded.graph); }),
      AllOf(HasSubstr("toy"), HasSubstr("chol_model_potrf"), HasSubstr("3686400"), HasSubstr("1000")));
}

TEST_F(SamplingDirectory, MissingFilesAndNanRowsAreNamed) {
  write_file(folder_ / "bus/toy.latency", "0\tnan\nnan\t0\n");
  EXPECT_THAT(error_of([&] { read_sampled_machine(folder_, "toy"); }),
              AllOf(HasSubstr("toy.latency"), HasSubstr("row 0"), HasSubstr("nan")));
  fs::remove(folder_ / "bus/toy.bandwidth");
  EXPECT_THAT(error_of([&] { read_sampled_machine(folder_, "toy"); }),
              AllOf(HasSubstr("toy.bandwidth"), HasSubstr("missing")));
  EXPECT_THAT(error_of([&] { read_sampled_machine(folder_, "other"); }), HasSubstr("other.platform.v4.xml"));
}

}  // namespace
}  // namespace espalier::sampling
