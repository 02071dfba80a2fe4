#include "runtime/perfmodel/fitted/measurements.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/all_reduce.hpp"

namespace espalier::fitted {
namespace {

using testing::HasSubstr;

const std::string kConvHeader =
    "device,precision,W,H,C,N,K,R_h,S_w,pad_h,pad_w,stride_h,stride_w,fwd_ms,bwd_input_ms,bwd_weight_ms\n";

Measurements read(const std::string& csv, const std::string& name = "x.csv") {
  MeasurementReader reader;
  reader.add(csv, name);
  return reader.finish();
}

void expect_refused(const std::string& csv, const std::vector<std::string>& parts,
                    const std::string& name = "x.csv") {
  try {
    static_cast<void>(read(csv, name));
    ADD_FAILURE() << "accepted: " << csv;
  } catch (const InputError& e) {
    for (const std::string& part : parts) EXPECT_THAT(e.what(), HasSubstr(part)) << csv;
  }
}

TEST(Measurements, ReadsConvolutions) {
  // the same call twice: the geometric mean of 1 and 4 ms is 2 ms; an empty time is not measured
  const Measurements m = read(kConvHeader +
                              "A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,,2\n# note\n\n"
                              "A,fp32,8,8,3,1,4,3,3,1,1,1,1,4,,2\n"
                              "B,fp32,8,8,3,2,4,3,3,1,1,1,1,3,1,nan\n");
  ASSERT_EQ(m.kernels.size(), 3U);
  const KernelTimes& forward = m.kernels[0];
  EXPECT_EQ(forward.kind, KernelKind::conv_forward);
  ASSERT_EQ(forward.problems.size(), 2U);
  EXPECT_THAT(forward.devices, testing::ElementsAre("A/fp32", "B/fp32"));
  EXPECT_NEAR(std::exp(forward.at(0, 0)), 2e-3, 1e-12);
  EXPECT_TRUE(std::isnan(forward.at(1, 0)));
  EXPECT_EQ(m.kernels[1].problems.size(), 1U);  // backward-input: B alone
}

TEST(Measurements, ColumnsMayBeInAnyOrderAndMore) {
  const Measurements m =
      read("ms,transB,transA,K,N,M,precision,device,remark\n1.5,T,N,64,32,16,fp32,\"X\",good\n", "gemm.csv");
  ASSERT_EQ(m.kernels.size(), 1U);
  EXPECT_THAT(m.kernels[0].problems[0], testing::ElementsAre(16, 32, 64, 0, 1));
}

TEST(Measurements, BadRowsAreNamedByLineAndColumn) {
  const std::string good = "A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,2,2\n";
  const auto bad = [&](const std::string& row, const std::vector<std::string>& parts) {
    std::vector<std::string> all = {"x.csv:3: "};
    all.insert(all.end(), parts.begin(), parts.end());
    expect_refused(kConvHeader + good + row, all);
  };
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,2\n", {"15 cells", "16"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,2,2,9\n", {"17 cells"});
  bad("A,fp32,8,8,x,1,4,3,3,1,1,1,1,1,2,2\n", {"C", "x"});
  bad("A,fp32,8,8,-3,1,4,3,3,1,1,1,1,1,2,2\n", {"C", "-3"});
  bad("A,fp32,8,8,3.5,1,4,3,3,1,1,1,1,1,2,2\n", {"C", "3.5"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,fast,2,2\n", {"fwd_ms", "fast"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,0,2\n", {"bwd_input_ms", "greater than 0"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,1,2,-2\n", {"bwd_weight_ms"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,inf,2,2\n", {"fwd_ms"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,1,1,1e300,2,2\n", {"fwd_ms"});
  bad("A,fp32,8,8,3,1,4,11,3,0,0,1,1,1,2,2\n", {"no output", "R_h 11"});
  bad("A,fp32,8,8,3,1,4,3,3,1,1,0,1,1,2,2\n", {"no output", "stride_h 0"});
  bad("A,fp32,0,8,3,1,4,3,3,1,1,1,1,1,2,2\n", {"no output", "W 0"});
  bad(",fp32,8,8,3,1,4,3,3,1,1,1,1,1,2,2\n", {"device"});
  bad("A,,8,8,3,1,4,3,3,1,1,1,1,1,2,2\n", {"precision"});
}

TEST(Measurements, BadHeaders) {
  expect_refused("", {"x.csv", "empty"});
  expect_refused("a,b,c\n1,2,3\n", {"x.csv:1", "a,b,c", "accepted are"});
  expect_refused("precision,M,N,K,transA,transB,ms\nfp32,1,1,1,N,N,1\n", {"x.csv:1", "device"});
  expect_refused("device,precision,M,N,K,transA,transB\nA,fp32,1,1,1,N,N\n", {"no column of times"});
  expect_refused(kConvHeader, {"no rows"});
  expect_refused("device,precision,M,N,K,transA,transB,ms\nA,fp32,1,1,1,Q,N,1\n", {"x.csv:2", "transA", "Q"});
  expect_refused("device,precision,kind,hidden,batch,timesteps,fwd_ms\nA,fp32,RRNN,1,1,1,1\n",
                 {"x.csv:2", "kind", "RRNN", "LSTM"});
  expect_refused(std::string("\0\1\2,\xff", 5), {"x.csv"});
}

TEST(Measurements, AllReduceNamesItsDevices) {
  const std::string header = "size(B),count,type,time(ns),busbw(GB/s)\n";
  const Measurements m = read(header + "1000000,1,float,30000,1\n9000000,1,float,110000,1\n", "v_4gpu.csv");
  ASSERT_EQ(m.all_reduces.size(), 1U);
  // 8e6 bytes in 80 us: 2 x 3/4 x 1e11 = 1.5e11 byte/s, and 30 - 10 = 20 us to start
  const AllReduceFit fit = fit_all_reduce(m.all_reduces[0]);
  EXPECT_EQ(fit.devices, 4);
  EXPECT_NEAR(fit.bandwidth, 1.5e11, 1e5);
  EXPECT_NEAR(fit.latency, 20e-6, 1e-10);
  expect_refused(header + "1000000,1,float,30000,1\n", {"two"}, "v_4gpu.csv");
  expect_refused(header + "1000000,1,float,30000,1\nx,1,float,3,1\n", {"v_4gpu.csv:3", "size"}, "v_4gpu.csv");
  expect_refused(header + "1000000,1,float,0,1\n9000000,1,float,3,1\n", {"v_4gpu.csv:2", "time"},
                 "v_4gpu.csv");
  expect_refused(header + "1000000,1,float,3,1\n9000000,1\n", {"v_4gpu.csv:3", "cells"}, "v_4gpu.csv");
  expect_refused(header + "1000000,1,float,3,1\n", {"number of devices"}, "plain.csv");
}

}  // namespace
}  // namespace espalier::fitted
