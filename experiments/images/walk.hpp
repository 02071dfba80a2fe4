#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier {

/// Image files in order: files as given, folders walked recursively with their entries sorted by name, of
/// which those ending in .jpg, .jpeg, .png or .webp (any case) count. Links to folders are not followed into
/// a loop.
struct ImageList {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> problems;  ///< unreadable sub-folders, in words
};

/// InputError names a path that does not exist, an unreadable folder given by name, or says that nothing was
/// found.
ImageList find_images(const std::vector<std::string>& paths);

}  // namespace espalier
