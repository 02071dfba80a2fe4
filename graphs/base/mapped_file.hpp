#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace espalier {

/// A file's bytes, mapped when it is a regular file and read otherwise. `owner` keeps them alive.
struct FileBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

/// InputError names the path and the reason: missing, a folder, unreadable.
FileBytes map_file(const std::filesystem::path& path);

}  // namespace espalier
