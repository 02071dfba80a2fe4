#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

/// ONNX's own backend tests: folders with a model and recorded inputs and outputs, as Debian's
/// libonnx-testdata has them. See experiments/conformance/README.md.
namespace espalier::conformance {

/// Runs a bound graph on inputs by name and gives the outputs by name.
using Executor =
    std::function<std::map<std::string, Tensor>(const Graph&, const std::map<std::string, Tensor>& inputs)>;

enum class Outcome { passed, failed, refused };

struct CaseResult {
  std::string suite;  ///< "node", "pytorch-operator", ...
  std::string name;   ///< "test_abs"
  Outcome outcome = Outcome::passed;
  std::string reason;  ///< why it failed or was refused
};

/// Where Debian's libonnx-testdata puts the cases.
constexpr const char* kDebianFolder = "/usr/share/libonnx-testdata/data";

/// The cases in `folder`, sorted: the folder itself when it has a model.onnx, else those of its sub-folders
/// and of theirs that have one. Empty when there are none. InputError when the folder cannot be read.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& folder);

/// Empty when `actual` is within rtol |expected| + atol of `expected` (NaN equals NaN; integers exactly),
/// else what differs.
std::string difference(const Tensor& actual, const Tensor& expected, double rtol = 1e-3, double atol = 1e-7);

/// Runs FOLDER/model.onnx on every FOLDER/test_data_set_*, with ONNX's tolerances. Inputs that shape rules
/// need when the graph is bound are taken from the data set. An InputError before anything has run means
/// refused.
CaseResult run_case(const std::filesystem::path& folder, const LayerTable& layers, const Executor& execute);

/// A line by case, "passed  node/test_abs" or with ": reason" (in short) behind it, and the totals in the
/// last one.
std::string report(const std::vector<CaseResult>& results);
std::string outcome_name(Outcome outcome);
std::size_t count(const std::vector<CaseResult>& results, Outcome outcome);

}  // namespace espalier::conformance
