#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <optional>

namespace espalier::test {

/// A file or folder below ESPALIER_SHARED (default ../shared); nullopt when it is absent.
std::optional<std::filesystem::path> shared_data(const std::filesystem::path& relative);

/// Skips the test, saying which file is absent, else binds `variable` to its path.
#define ESPALIER_SHARED_OR_SKIP(variable, relative)                                          \
  const auto variable##_found = ::espalier::test::shared_data(relative);                     \
  if (!variable##_found)                                                                     \
    GTEST_SKIP() << relative << " is absent; set ESPALIER_SHARED to the folder that has it"; \
  const std::filesystem::path variable = *variable##_found

}  // namespace espalier::test
