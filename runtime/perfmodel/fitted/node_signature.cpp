#include "runtime/perfmodel/fitted/node_signature.hpp"

#include <charconv>

#include "runtime/task_graph/sources/text.hpp"

namespace espalier::fitted {
namespace {

constexpr double kMostExtent = 1e9;

std::optional<double> whole_number(std::string_view text) {
  text = source::trimmed(text);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0 ||
      static_cast<double>(value) > kMostExtent)
    return std::nullopt;
  return static_cast<double>(value);
}

/// "1, 2, 3"; nothing for an empty text.
std::optional<std::vector<double>> list_of(std::string_view text) {
  std::vector<double> out;
  if (source::trimmed(text).empty()) return out;
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto one = whole_number(text.substr(0, comma));
    if (!one) return std::nullopt;
    out.push_back(*one);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

/// "float32 [1, 2], -, int64 []".
std::optional<std::vector<SignatureTensor>> tensors_of(std::string_view text) {
  std::vector<SignatureTensor> out;
  while (!source::trimmed(text).empty()) {
    text = source::trimmed(text);
    if (text.front() == '-') {
      out.emplace_back();
      text.remove_prefix(1);
    } else {
      const std::size_t open = text.find('['), close = text.find(']');
      if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        return std::nullopt;
      const auto extents = list_of(text.substr(open + 1, close - open - 1));
      const std::string_view type = source::trimmed(text.substr(0, open));
      if (!extents || type.empty()) return std::nullopt;
      out.push_back({std::string(type), *extents});
      text.remove_prefix(close + 1);
    }
    text = source::trimmed(text);
    if (text.empty()) break;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
  return out;
}

/// "group=1 pads=1,1,1,1".
std::map<std::string, std::string> attributes_of(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string_view field : source::fields_of(text))
    if (const std::size_t equals = field.find('='); equals != std::string_view::npos)
      out[std::string(field.substr(0, equals))] = std::string(field.substr(equals + 1));
  return out;
}

}  // namespace

std::vector<double> NodeSignature::numbers(const std::string& attribute, std::vector<double> fallback) const {
  const auto it = attributes.find(attribute);
  if (it == attributes.end()) return fallback;
  const auto list = list_of(it->second);
  return list && !list->empty() ? *list : fallback;
}

std::optional<NodeSignature> parse_signature(std::string_view text) {
  NodeSignature out;
  constexpr std::string_view part = " part 1/", arrow = ") -> (";
  if (const std::size_t at = text.rfind(part); at != std::string_view::npos) {
    const auto parts = whole_number(text.substr(at + part.size()));
    if (!parts || *parts < 1) return std::nullopt;
    out.parts = *parts;
    text = text.substr(0, at);
  }
  const std::size_t to = text.find(arrow);
  if (to == std::string_view::npos || text.find(arrow, to + 1) != std::string_view::npos) return std::nullopt;
  const std::size_t open = text.find(" ["), from = text.rfind("] (", to);
  if (open == std::string_view::npos || from == std::string_view::npos || from < open + 1)
    return std::nullopt;
  const std::string_view rest = text.substr(to + arrow.size());
  const std::size_t close = rest.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  auto inputs = tensors_of(text.substr(from + 3, to - from - 3));
  auto outputs = tensors_of(rest.substr(0, close));
  if (!inputs || !outputs) return std::nullopt;
  out.op = std::string(text.substr(0, open));
  out.attributes = attributes_of(text.substr(open + 2, from - open - 2));
  out.inputs = std::move(*inputs);
  out.outputs = std::move(*outputs);
  return out;
}

}  // namespace espalier::fitted
