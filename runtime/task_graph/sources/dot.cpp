#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>

#include "runtime/task_graph/sources/dot_lexer.hpp"
#include "runtime/task_graph/sources/text.hpp"
#include "runtime/task_graph/sources/weighted_dag.hpp"

/// Graphviz files of directed graphs whose nodes have a Weight (their time) and whose edges may have one
/// (their communication). Subgraphs are flattened; other attributes are skipped.
namespace espalier {
namespace {

using source::DotLexer;
using source::DotToken;
using source::DotTokenKind;
using source::fail;

constexpr int kMostNesting = 200;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

class DotParser {
 public:
  DotParser(std::string_view text, const std::string& name) : lexer_(text, name), name_(name) { advance(); }

  source::WeightedDag parse() {
    dag_.name = name_;
    if (is_keyword("strict")) advance();
    if (is_keyword("graph"))
      fail(name_, token_.where, "an undirected graph has no order of tasks: a digraph was expected");
    if (!is_keyword("digraph"))
      fail(name_, token_.where,
           fmt::format("\"digraph NAME {{\" was expected, not \"{}\"", source::shown(token_.text)));
    advance();
    if (token_.kind == DotTokenKind::id) advance();
    expect(DotTokenKind::open, "{");
    statements({}, 0);
    expect(DotTokenKind::close, "} at the end of the graph");
    if (token_.kind != DotTokenKind::end) fail(name_, token_.where, "only one graph a file is accepted");
    finish();
    return std::move(dag_);
  }

 private:
  struct Defaults {
    std::optional<double> node, edge;
  };

  void advance() { token_ = lexer_.next(); }
  bool is_keyword(const char* word) const {
    return token_.kind == DotTokenKind::id && !token_.quoted && lower(token_.text) == word;
  }
  void expect(DotTokenKind kind, const char* what) {
    if (token_.kind != kind)
      fail(name_, token_.where,
           token_.kind == DotTokenKind::end
               ? fmt::format("the file ends where {} was expected", what)
               : fmt::format("{} was expected, not \"{}\"", what, source::shown(token_.text)));
    advance();
  }

  void statements(Defaults defaults, int depth) {
    if (depth > kMostNesting) fail(name_, token_.where, "subgraphs are nested too deeply");
    while (token_.kind != DotTokenKind::close && token_.kind != DotTokenKind::end) {
      if (token_.kind == DotTokenKind::semicolon || token_.kind == DotTokenKind::comma) {
        advance();
      } else if (is_keyword("node") || is_keyword("edge") || is_keyword("graph")) {
        const std::string what = lower(token_.text);
        advance();
        const auto weight = attributes();
        if (weight && what == "node") defaults.node = weight;
        if (weight && what == "edge") defaults.edge = weight;
      } else if (is_keyword("subgraph") || token_.kind == DotTokenKind::open) {
        subgraph(defaults, depth);
      } else {
        node_or_edges(defaults);
      }
    }
  }

  void subgraph(const Defaults& defaults, int depth) {
    if (is_keyword("subgraph")) {
      advance();
      if (token_.kind == DotTokenKind::id) advance();
    }
    expect(DotTokenKind::open, "{");
    statements(defaults, depth + 1);
    expect(DotTokenKind::close, "} at the end of the subgraph");
    if (token_.kind == DotTokenKind::arrow) fail_subgraph_edge();
  }

  [[noreturn]] void fail_subgraph_edge() const {
    fail(name_, token_.where,
         "an edge from or to a subgraph is not accepted: write one edge for each pair of nodes");
  }

  std::uint32_t node(const Defaults& defaults) {
    if (token_.kind != DotTokenKind::id)
      fail(name_, token_.where, fmt::format("a node was expected, not \"{}\"", source::shown(token_.text)));
    if (is_keyword("subgraph")) fail_subgraph_edge();
    const auto [it, is_new] = index_.try_emplace(token_.text, static_cast<std::uint32_t>(dag_.names.size()));
    if (is_new) {
      dag_.names.push_back(token_.text);
      weights_.push_back(defaults.node);
      lines_.push_back(token_.where);
    }
    advance();
    for (int i = 0; i < 2 && token_.kind == DotTokenKind::colon; ++i) {  // a port: where the edge is drawn
      advance();
      expect(DotTokenKind::id, "a port");
    }
    return it->second;
  }

  void node_or_edges(const Defaults& defaults) {
    const std::uint32_t first = node(defaults);
    if (token_.kind == DotTokenKind::equals) {  // NAME = VALUE, an attribute of the graph: not a node
      if (first + 1 == dag_.names.size() && weights_[first] == defaults.node) {
        index_.erase(dag_.names[first]);
        dag_.names.pop_back();
        weights_.pop_back();
        lines_.pop_back();
      }
      advance();
      expect(DotTokenKind::id, "a value");
      return;
    }
    if (token_.kind == DotTokenKind::line)
      fail(name_, token_.where, "-- joins nodes without direction: -> was expected");
    if (token_.kind != DotTokenKind::arrow) {
      if (const auto weight = attributes()) weights_[first] = weight;
      return;
    }
    const std::size_t begin = dag_.edges.size();
    std::uint32_t from = first;
    while (token_.kind == DotTokenKind::arrow) {
      advance();
      if (token_.kind == DotTokenKind::open) fail_subgraph_edge();
      const std::uint32_t to = node(defaults);
      dag_.edges.emplace_back(from, to);
      from = to;
    }
    const auto weight = attributes();
    dag_.edge_weights.resize(dag_.edges.size(), 0);
    for (std::size_t e = begin; e < dag_.edges.size(); ++e)
      dag_.edge_weights[e] = weight ? *weight : defaults.edge.value_or(0);
  }

  /// Attribute lists up to the last; the Weight if there is one.
  std::optional<double> attributes() {
    std::optional<double> weight;
    while (token_.kind == DotTokenKind::left) {
      advance();
      while (token_.kind != DotTokenKind::right) {
        if (token_.kind == DotTokenKind::comma || token_.kind == DotTokenKind::semicolon) {
          advance();
          continue;
        }
        const std::string key = lower(token_.text);
        expect(DotTokenKind::id, "an attribute or ]");
        if (token_.kind != DotTokenKind::equals) continue;
        advance();
        const DotToken value = token_;
        expect(DotTokenKind::id, "a value");
        if (key == "weight")
          weight = source::number(source::trimmed(value.text), name_, value.where, "Weight");
      }
      advance();
    }
    return weight;
  }

  void finish() {
    if (dag_.names.empty()) fail(name_, token_.where, "the graph has no node");
    for (std::size_t v = 0; v < weights_.size(); ++v)
      if (!weights_[v])
        fail(name_, lines_[v],
             fmt::format("node \"{}\" has no Weight: each node needs its time, as in {} [Weight=3]",
                         source::shown(dag_.names[v]), source::shown(dag_.names[v])));
      else
        dag_.weights.push_back(*weights_[v]);
  }

  DotLexer lexer_;
  const std::string& name_;
  DotToken token_;
  source::WeightedDag dag_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::optional<double>> weights_;
  std::vector<std::size_t> lines_;
};

}  // namespace

LoadedTaskGraph read_dot(std::string_view text, const std::string& name) {
  return source::to_task_graph(DotParser(text, name).parse());
}

}  // namespace espalier
