#include "runtime/starpu/history.hpp"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace espalier::starpu {
namespace {

/// StarPU's sampling folder of this test alone.
class History : public ::testing::Test {
 protected:
  History()
      : folder_(std::filesystem::temp_directory_path() / ("espalier-history-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    if (const char* before = std::getenv("STARPU_HOME"); before != nullptr) before_ = before;
    ::setenv("STARPU_HOME", folder_.c_str(), 1);
  }
  ~History() override {
    if (before_)
      ::setenv("STARPU_HOME", before_->c_str(), 1);
    else
      ::unsetenv("STARPU_HOME");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
  std::optional<std::string> before_;
};

TEST_F(History, GivenTimesComeBackAndOutliveTheMachine) {
  const HistoryTime times[] = {{"history_a", 0x1122334455667788, 2e-3}, {"history_b", 7, 5e-6}};
  {
    Machine machine({"eager", 1});
    EXPECT_FALSE(history_seconds(machine, "history_a", times[0].footprint));
    give_history(machine, times);
    for (const HistoryTime& t : times) {
      const auto read = history_seconds(machine, t.codelet, t.footprint);
      ASSERT_TRUE(read) << t.codelet;
      EXPECT_NEAR(*read, t.seconds, 1e-6 * t.seconds);
    }
    EXPECT_FALSE(history_seconds(machine, "history_a", 8));
  }
  Machine later({"eager", 1});
  const auto read = history_seconds(later, "history_a", times[0].footprint);
  ASSERT_TRUE(read);
  EXPECT_NEAR(*read, 2e-3, 1e-5);
  give_history(later, {{{"history_a", times[0].footprint, 9e-3}}});  // far off: what was known does not count
  EXPECT_NEAR(history_seconds(later, "history_a", times[0].footprint).value_or(0), 9e-3, 1e-4);
}

}  // namespace
}  // namespace espalier::starpu
