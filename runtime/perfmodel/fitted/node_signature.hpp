#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::fitted {

/// A tensor type as signature_of writes it: "float32 [2, 56, 56, 64]".
struct SignatureTensor {
  std::string type;  ///< empty: absent
  std::vector<double> extents;
};

/// The parts of the signature of one node (runtime/task_graph/codelet_name.hpp), with the " part 1/n" of a
/// split.
struct NodeSignature {
  std::string op;
  std::map<std::string, std::string> attributes;
  std::vector<SignatureTensor> inputs, outputs;
  double parts = 1;

  /// Whole numbers of an attribute; `fallback` when it is absent or has others.
  std::vector<double> numbers(const std::string& attribute, std::vector<double> fallback) const;
};

/// nullopt for what is no signature of a single node.
std::optional<NodeSignature> parse_signature(std::string_view text);

}  // namespace espalier::fitted
