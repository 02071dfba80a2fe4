#include "tests/support/shared_data.hpp"

#include <cstdlib>

namespace espalier::test {

std::optional<std::filesystem::path> shared_data(const std::filesystem::path& relative) {
  const char* root = std::getenv("ESPALIER_SHARED");
  std::filesystem::path path = std::filesystem::path(root != nullptr ? root : "../shared") / relative;
  if (std::filesystem::exists(path)) return path;
  return std::nullopt;
}

}  // namespace espalier::test
