#include "experiments/images/walk.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

bool has_image_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

class Walker {
 public:
  explicit Walker(ImageList& list) : list_(list) {}

  /// The reason when the folder itself cannot be read, else empty.
  std::string walk(const fs::path& folder) {
    std::error_code code;
    if (!visited_.insert(fs::canonical(folder, code)).second) return {};
    fs::directory_iterator iterator(folder, code);
    if (code) return fmt::format("{}: the folder cannot be read: {}", folder.string(), code.message());
    std::vector<fs::path> entries;
    for (; iterator != fs::directory_iterator(); iterator.increment(code)) {
      if (code) break;
      entries.push_back(iterator->path());
    }
    if (code) list_.problems.push_back(fmt::format("{}: {}", folder.string(), code.message()));
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry, code)) {
        if (std::string problem = walk(entry); !problem.empty()) list_.problems.push_back(std::move(problem));
      } else if (has_image_ending(entry)) {
        add(entry);
      }
    }
    return {};
  }

 private:
  /// Opening a pipe would wait for somebody to write to it.
  void add(const fs::path& file) {
    std::error_code code;
    const fs::file_status status = fs::status(file, code);
    if (fs::exists(status) && !fs::is_regular_file(status))
      list_.problems.push_back(fmt::format("{}: is no regular file", file.string()));
    else
      list_.files.push_back(file);
  }

  ImageList& list_;
  std::set<fs::path> visited_;
};

}  // namespace

ImageList find_images(const std::vector<std::string>& paths) {
  ImageList list;
  for (const std::string& path : paths) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (status.type() == fs::file_type::not_found)
      throw InputError(fmt::format("{}: no such file or folder", path));
    if (!fs::status_known(status))
      throw InputError(fmt::format("{}: cannot be read: {}", path, code.message()));
    if (!fs::is_directory(status)) {
      list.files.emplace_back(path);
      continue;
    }
    Walker walker(list);
    if (const std::string problem = walker.walk(path); !problem.empty()) throw InputError(problem);
  }
  if (list.files.empty() && list.problems.empty())
    throw InputError(fmt::format("no image in {}: files ending in .jpg, .jpeg, .png or .webp are looked for",
                                 fmt::join(paths, ", ")));
  return list;
}

}  // namespace espalier
