#include "graphs/base/file_io.hpp"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileIo : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "file_io.XXXXXX";  // tests run side by side
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(FileIo, ReplacesAFileAndKeepsALink) {
  write_file(folder_ / "a", "old");
  fs::create_symlink("a", folder_ / "link");
  write_file(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "a"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(FileIo, DevicesAreWrittenInPlaceNeverReplaced) {
  ASSERT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink("/dev/null", folder_ / "null");
  EXPECT_TRUE(rename_target(folder_ / "null").empty());
  write_file(folder_ / "null", "gone");
  EXPECT_TRUE(fs::is_symlink(folder_ / "null"));
  ASSERT_TRUE(fs::is_character_file("/dev/full"));
  fs::create_symlink("/dev/full", folder_ / "full");
  try {
    write_file(folder_ / "full", "x");
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_THAT(e.what(), HasSubstr("No space left"));
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(FileIo, EndlessDevicesAreNotRead) {
  try {
    read_file("/dev/zero");
    ADD_FAILURE() << "no error";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("/dev/zero: is a device"));
  }
}

}  // namespace
}  // namespace espalier
