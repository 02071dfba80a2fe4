#include "experiments/classify/labels.hpp"

#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr std::size_t kMostClasses = 10'000'000;

Json parse_json(const std::string& text, const std::string& path) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    throw InputError(fmt::format("{}: not JSON: {}", path, e.what()));
  }
}

std::string name_of_entry(const Json& value, const std::string& path, const std::string& entry) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
  if (value.is_array() && !value.empty() && value.back().is_string()) return value.back().get<std::string>();
  throw InputError(fmt::format("{}: entry {} is {}, a name is needed", path, entry, value.type_name()));
}

std::vector<std::string> from_list(const Json& list, const std::string& path) {
  std::vector<std::string> labels;
  for (const Json& value : list) labels.push_back(name_of_entry(value, path, std::to_string(labels.size())));
  return labels;
}

std::vector<std::string> from_indices(const Json& object, const std::string& path) {
  std::vector<std::optional<std::string>> found;
  for (const auto& [key, value] : object.items()) {
    std::size_t index = 0;
    const auto [end, code] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (code != std::errc() || end != key.data() + key.size() || index >= kMostClasses)
      throw InputError(fmt::format("{}: key {} is not the index of an output", path, key));
    if (index >= found.size()) found.resize(index + 1);
    found[index] = name_of_entry(value, path, key);
  }
  std::vector<std::string> labels;
  for (auto& name : found) {
    if (!name) throw InputError(fmt::format("{}: no name for output {}", path, labels.size()));
    labels.push_back(std::move(*name));
  }
  return labels;
}

std::vector<std::string> from_lines(const std::string& text, const std::string& path) {
  std::vector<std::string> labels;
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(std::move(line));
    at = end + 1;
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i].empty())
      throw InputError(fmt::format("{}:{}: an empty line where a name is needed", path, i + 1));
  return labels;
}

void rename(std::vector<std::string>& labels, const std::string& path) {
  const Json names = parse_json(read_file(path, kLargestFile), path);
  if (!names.is_object())
    throw InputError(fmt::format("{}: a JSON object from label to name is needed", path));
  for (std::string& label : labels) {
    const auto it = names.find(label);
    if (it == names.end()) throw InputError(fmt::format("{}: no name for {}", path, label));
    label = name_of_entry(*it, path, label);
  }
}

}  // namespace

std::vector<std::string> read_labels(const std::string& path, const std::string& names_path) {
  const std::string text = read_file(path, kLargestFile);
  if (text.find('\0') != std::string::npos)
    throw InputError(fmt::format("{}: a binary file; text with one name a line or JSON is needed", path));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<std::string> labels;
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    const Json json = parse_json(text, path);
    labels = json.is_array() ? from_list(json, path) : from_indices(json, path);
  } else {
    labels = from_lines(text, path);
  }
  if (labels.empty()) throw InputError(fmt::format("{}: it has no names", path));
  if (!names_path.empty()) rename(labels, names_path);
  return labels;
}

std::vector<std::string> numbered_labels(std::size_t count) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(fmt::format("class {}", i));
  return labels;
}

void require_label_count(const std::vector<std::string>& labels, std::size_t outputs,
                         const std::string& path) {
  if (labels.size() != outputs)
    throw InputError(
        fmt::format("{}: {} names, but the network has {} outputs", path, labels.size(), outputs));
}

}  // namespace espalier
