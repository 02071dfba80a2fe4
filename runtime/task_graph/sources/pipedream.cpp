#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

#include "runtime/task_graph/sources/profile_builder.hpp"
#include "runtime/task_graph/sources/text.hpp"

/// Profiles of PipeDream (Narayanan et al., SOSP 2019): a line for each layer, "node1 -- Conv2d(...) --
/// forward_compute_time=1.2, backward_compute_time=2.4, activation_size=1024.0, parameter_size=64.0" with
/// milliseconds on a GPU and bytes (a list of sizes in brackets for several outputs), and a line "node1 --
/// node2" for each edge. The time of a source called Input... is that of waiting for the data, no work of a
/// GPU: it counts as 0, as in PipeDream's own planner.
namespace espalier {
namespace {

using source::fail;

constexpr double kMostBytes = 1e15;

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(source::trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

class Parser {
 public:
  Parser(const std::string& name) : name_(name) {
    profile_.name = name;
    profile_.basis = {CostSource::measured_elsewhere, "PipeDream's profile"};
  }

  void line(std::string_view text, std::size_t where) {
    if (source::trimmed(text).empty()) return;
    const auto parts = split(text, " -- ");
    if (parts.size() == 2)
      edges_.push_back({std::string(parts[0]), std::string(parts[1]), where});
    else if (parts.size() >= 3)
      layer(parts, text, where);
    else
      fail(name_, where, "\"node -- operation -- times and sizes\" or \"node -- node\" was expected");
  }

  source::NetworkProfile finish(std::size_t lines) {
    if (profile_.layers.empty()) fail(name_, lines + 1, "the profile has no layer");
    for (const auto& e : edges_) {
      profile_.edges.emplace_back(find(e.from, e.where), find(e.to, e.where));
      profile_.output_bytes.push_back(activation_[profile_.edges.back().first]);
    }
    take_no_time_for_inputs();
    return std::move(profile_);
  }

 private:
  struct NamedEdge {
    std::string from, to;
    std::size_t where;
  };

  void take_no_time_for_inputs() {
    std::vector<char> source(profile_.layers.size(), 1);
    for (const auto& [from, to] : profile_.edges) source[to] = 0;
    for (std::size_t l = 0; l < source.size(); ++l) {
      source::LayerProfile& layer = profile_.layers[l];
      if (source[l] == 0 || !layer.operation.starts_with("Input")) continue;
      layer.forward.accelerator = layer.backward.accelerator = 0;
    }
  }

  std::uint32_t find(const std::string& node, std::size_t where) const {
    const auto it = index_.find(node);
    if (it == index_.end())
      fail(name_, where, fmt::format("the edge names {}, which is no layer", source::shown(node)));
    return it->second;
  }

  void layer(const std::vector<std::string_view>& parts, std::string_view text, std::size_t where) {
    source::LayerProfile layer;
    layer.name = std::string(parts.front());
    if (!index_.try_emplace(layer.name, static_cast<std::uint32_t>(profile_.layers.size())).second)
      fail(name_, where, fmt::format("layer {} is there twice", source::shown(layer.name)));
    const std::string_view operation = parts[1];
    layer.operation = std::string(operation.substr(0, operation.find_first_of("( ")));
    for (char& c : layer.operation)
      if (static_cast<unsigned char>(c) < '!' || static_cast<unsigned char>(c) > '~') c = '_';
    const double forward = field(parts.back(), "forward_compute_time", where, 1e12) / 1000;
    const double backward = field(parts.back(), "backward_compute_time", where, 1e12) / 1000;
    layer.forward = {GivenCosts::kUnknown, forward};
    layer.backward = {GivenCosts::kUnknown, backward};
    layer.has_backward = true;
    layer.parameter_bytes = std::llround(field(parts.back(), "parameter_size", where, kMostBytes));
    activation_.push_back(std::llround(field(text, "activation_size", where, kMostBytes)));
    profile_.layers.push_back(std::move(layer));
  }

  /// key=number, or the sum of key=[number; number].
  double field(std::string_view text, std::string_view key, std::size_t where, double most) const {
    const std::size_t at = text.rfind(std::string(key) + "=");
    if (at == std::string_view::npos) fail(name_, where, fmt::format("{}=... is missing", key));
    std::string_view value = text.substr(at + key.size() + 1);
    const std::string what(key);
    if (value.starts_with('[')) {
      const std::size_t end = value.find(']');
      if (end == std::string_view::npos) fail(name_, where, fmt::format("{}: ] is missing", key));
      double sum = 0;
      for (const std::string_view part : split(value.substr(1, end - 1), ";"))
        sum += source::number(part, name_, where, what.c_str(), most);
      return sum;
    }
    return source::number(source::trimmed(value.substr(0, value.find(','))), name_, where, what.c_str(),
                          most);
  }

  const std::string& name_;
  source::NetworkProfile profile_;
  std::vector<std::int64_t> activation_;
  std::vector<NamedEdge> edges_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

}  // namespace

LoadedTaskGraph read_pipedream(std::string_view text, const std::string& name,
                               const TaskGraphOptions& options) {
  Parser parser(name);
  const auto lines = source::lines_of(text);
  for (std::size_t i = 0; i < lines.size(); ++i) parser.line(lines[i], i + 1);
  return source::to_task_graph(parser.finish(lines.size()), options);
}

}  // namespace espalier
