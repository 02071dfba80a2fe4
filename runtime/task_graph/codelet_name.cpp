#include "runtime/task_graph/codelet_name.hpp"

#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <variant>

namespace espalier {
namespace {

std::string snake_case(const std::string& op) {
  std::string out;
  for (std::size_t i = 0; i < op.size(); ++i) {
    const auto c = static_cast<unsigned char>(op[i]);
    const bool upper = std::isupper(c) != 0;
    const bool after_lower = i > 0 && std::islower(static_cast<unsigned char>(op[i - 1])) != 0;
    const bool before_lower = i > 0 && i + 1 < op.size() &&
                              std::isupper(static_cast<unsigned char>(op[i - 1])) != 0 &&
                              std::islower(static_cast<unsigned char>(op[i + 1])) != 0;
    if (upper && (after_lower || before_lower)) out += '_';
    out += std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  }
  return out;
}

struct AttributeText {
  std::string operator()(std::int64_t v) const { return std::to_string(v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Tensor& v) const { return v.type().to_string(); }
  template <class T>
  std::string operator()(const std::vector<T>& v) const {
    return fmt::format("{}", fmt::join(v, ","));
  }
};

std::string types(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<std::string> parts;
  for (const ValueId v : values) parts.push_back(v == kAbsent ? "-" : graph.type(v).to_string());
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

std::string codelet_name(const Graph& graph, const Node& node) {
  std::string name = snake_case(node.op);
  const bool convolution = node.op == "Conv" || node.op == "ConvTranspose";
  if (convolution && !node.inputs.empty() && node.inputs[0] != kAbsent) {
    const int spatial = graph.type(node.inputs[0]).shape.rank() - 2;
    name = fmt::format("conv{}d{}", spatial, node.op == "Conv" ? "" : "_transpose");
  }
  return name + "_forward";
}

std::string signature_of(const Graph& graph, const Node& node) {
  std::vector<std::string> attributes;
  for (const auto& [name, value] : node.attributes.all())
    attributes.push_back(fmt::format("{}={}", name, std::visit(AttributeText{}, value)));
  std::string text = fmt::format("{} [{}] {} -> {}", node.op, fmt::join(attributes, " "),
                                 types(graph, node.inputs), types(graph, node.outputs));
  for (const PostOp& post : node.post_ops) text += fmt::format(" +{}({},{})", post.op, post.alpha, post.beta);
  return text;
}

}  // namespace espalier
