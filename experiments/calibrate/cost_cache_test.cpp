#include "experiments/calibrate/cost_cache.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

CostClassInfo what(const std::string& codelet, const std::string& signature) {
  return {codelet, signature, Flops(0), Bytes(0)};
}

class CostCache : public ::testing::Test {
 protected:
  CostCache()
      : folder_(std::filesystem::temp_directory_path() /
                ("espalier-cost-cache-" + std::to_string(::getpid()))) {
    if (const char* before = std::getenv("ESPALIER_CACHE"); before != nullptr) before_ = before;
    ::setenv("ESPALIER_CACHE", folder_.c_str(), 1);
  }
  ~CostCache() override {
    if (before_)
      ::setenv("ESPALIER_CACHE", before_->c_str(), 1);
    else
      ::unsetenv("ESPALIER_CACHE");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
  std::optional<std::string> before_;
  MachineIdentity identity_{{"processor", "abacus"}, {"workers", "2"}};
};

TEST_F(CostCache, MergesAndReadsBack) {
  MeasuredCosts first, second;
  first.overhead = {3e-6, 12, true};
  first.set(what("conv", "a"), {1e-3, 0.01, 10});
  first.set(what("conv", "b"), {2e-3, 0.01, 10});
  second.set(what("conv", "b"), {4e-3, 0.02, 20});
  ASSERT_TRUE(save_costs(first, identity_));
  ASSERT_TRUE(save_costs(second, identity_));
  const MeasuredCosts all = load_costs(identity_);
  EXPECT_EQ(all.overhead.seconds, 3e-6);
  EXPECT_EQ(all.overhead.samples, 12U);
  EXPECT_TRUE(all.overhead.measured);
  EXPECT_EQ(all.find(what("conv", "a"))->seconds, 1e-3);
  EXPECT_EQ(all.find(what("conv", "b"))->seconds, 4e-3);
  EXPECT_EQ(all.find(what("conv", "b"))->samples, 20U);
  EXPECT_EQ(all.find(what("dense", "a")), nullptr);
  DeviceKind cpu, gpu;
  gpu.type = DeviceType::cuda;
  EXPECT_EQ(all.estimate(what("conv", "a"), cpu)->time.value, 1e-3);
  EXPECT_FALSE(all.estimate(what("conv", "a"), gpu));
}

TEST_F(CostCache, OtherMachinesVersionsAndDamageAreNotTrusted) {
  MeasuredCosts costs;
  costs.overhead = {1e-6, 4, true};
  costs.set(what("conv", "a"), {1e-3, 0.01, 10});
  const std::string text = costs.to_json(identity_);
  ASSERT_TRUE(MeasuredCosts::from_json(text, identity_));
  MachineIdentity other = identity_;
  other["workers"] = "4";
  EXPECT_NE(key_of(other), key_of(identity_));
  EXPECT_FALSE(MeasuredCosts::from_json(text, other));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string out = text;
    const std::size_t at = out.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return out.replace(at, from.size(), to);
  };
  for (const std::string& bad :
       {changed("\"version\": 3", "\"version\": 2"), changed("espalier-costs", "espalier-plan"),
        changed("0.001", "-0.001"), changed("0.001", "0"), changed("0.001", "null"), changed("\"a\"", "7"),
        changed("\"samples\": 10", "\"samples\": -1"), text.substr(0, text.size() / 2), std::string("[]"),
        std::string()})
    EXPECT_FALSE(MeasuredCosts::from_json(bad, identity_)) << bad;
  std::filesystem::create_directories(cost_file(identity_).parent_path());
  write_file(cost_file(identity_), "{");
  std::string reason;
  EXPECT_EQ(load_costs(identity_, &reason).size(), 0U);
  EXPECT_NE(reason.find(cost_file(identity_).string()), std::string::npos);
  EXPECT_NE(reason.find("damaged"), std::string::npos);
  write_file(cost_file(identity_), changed("\"version\": 3", "\"version\": 2"));
  EXPECT_EQ(load_costs(identity_, &reason).size(), 0U);
  EXPECT_NE(reason.find("version 2, 3 is needed"), std::string::npos) << reason;
  write_file(cost_file(identity_), changed("abacus", "slide rule"));
  EXPECT_EQ(load_costs(identity_, &reason).size(), 0U);
  EXPECT_NE(reason.find("processor is not abacus"), std::string::npos) << reason;
  ASSERT_TRUE(save_costs(costs, identity_));  // rebuilt
  EXPECT_EQ(load_costs(identity_).size(), 1U);
}

TEST(MeasuredOverhead, AProgramWithoutWaitingTasksIsMeasuredToo) {
  MeasuredCosts first, second;
  EXPECT_FALSE(first.overhead.measured);
  second.overhead = {0, 0, true};  // one task: nothing waits for a worker
  first.merge(second);
  EXPECT_TRUE(first.overhead.measured);
  MeasuredCosts third;
  third.overhead = {2e-6, 50, true};
  first.merge(third);
  EXPECT_EQ(first.overhead.seconds, 2e-6);
  first.merge(second);  // and does not take back what another program has shown
  EXPECT_EQ(first.overhead.seconds, 2e-6);
}

}  // namespace
}  // namespace espalier
