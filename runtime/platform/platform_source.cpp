#include "runtime/platform/platform_source.hpp"

#include <charconv>
#include <filesystem>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/platform/named.hpp"
#include "runtime/platform/yaml_reader.hpp"

namespace espalier {
namespace {

constexpr int kMostIncludes = 8;
constexpr std::size_t kMostBytes = 4 << 20;

struct Alias {
  std::string_view other, name;
};
constexpr Alias kAliases[] = {{"2cpu-4gpu", "node-2cpu-4gpu"},
                              {"node-2x16cpu-4gpu-pcie", "node-2cpu-4gpu"},
                              {"hetero", "hetero-2v100-2p100"},
                              {"cluster", "cluster-4x-2cpu-4gpu"}};

const NamedPlatform* find_named(std::string_view text) {
  for (const Alias& a : kAliases)
    if (a.other == text) text = a.name;
  for (const NamedPlatform& p : named_platforms())
    if (p.name == text) return &p;
  return nullptr;
}

bool is_yaml_path(std::string_view text) {
  return text.ends_with(".yaml") || text.ends_with(".yml");
}

/// An included file lies beside the one that includes it.
MachineDescription load(const std::string& text, const std::filesystem::path& folder, int depth) {
  if (depth > kMostIncludes)
    throw InputError(
        fmt::format("platform {}: machines include each other more than {} deep", text, kMostIncludes));
  if (const NamedPlatform* p = find_named(text))
    return read_machine(p->yaml, fmt::format("named platform {}", p->name),
                        [&](const std::string& other) { return load(other, folder, depth + 1); });
  if (is_yaml_path(text)) {
    const std::filesystem::path path = folder / text;
    if (!std::filesystem::exists(path)) {
      std::string_view stem = text;
      stem.remove_suffix(stem.size() - stem.rfind('.'));
      if (find_named(stem) != nullptr) return load(std::string(stem), folder, depth + 1);
    }
    return read_machine(read_file(path, kMostBytes), path.string(),
                        [&](const std::string& other) { return load(other, path.parent_path(), depth + 1); });
  }
  std::string known;
  for (const NamedPlatform& p : named_platforms()) known += fmt::format("{}, ", p.name);
  throw InputError(fmt::format(
      "platform \"{}\" is not known; accepted are {}identical:P, local, or a .yaml file", text, known));
}

}  // namespace

Platform read_platform(std::string_view yaml, const std::string& name) {
  const MachineDescription m =
      read_machine(yaml, name, [](const std::string& other) { return load(other, {}, kMostIncludes); });
  return m.topology.finish(m.name);
}

Platform platform_named(const std::string& text, bool unit_less) {
  constexpr std::string_view identical = "identical:";
  if (text == "local") return local_platform();
  if (text.starts_with(identical)) {
    std::size_t processors = 0;
    const char* end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data() + identical.size(), end, processors);
    if (code != std::errc{} || stop != end)
      throw InputError(
          fmt::format("platform \"{}\": identical:P needs a whole number, as in identical:4", text));
    return identical_platform(processors, unit_less);
  }
  const MachineDescription m = load(text, {}, 0);
  try {
    return m.topology.finish(m.name);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", text, e.what()));
  }
}

bool is_platform_name(std::string_view text) {
  return text == "local" || text.starts_with("identical:") || find_named(text) != nullptr ||
         is_yaml_path(text);
}

std::string platform_summary(const NamedPlatform& platform) {
  return read_machine(platform.yaml, std::string(platform.name),
                      [](const std::string& other) { return load(other, {}, 1); })
      .summary;
}

}  // namespace espalier
