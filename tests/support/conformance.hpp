#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier::test {

/// Runs a bound graph on inputs by name and gives the outputs by name.
using Executor =
    std::function<std::map<std::string, Tensor>(const Graph&, const std::map<std::string, Tensor>& inputs)>;

/// The reference executor: optimise, then evaluate on the calling thread.
Executor optimising_executor(const LayerTable& layers);
Executor plain_executor(const LayerTable& layers);
/// Gives every run-time input with its axes rotated by one and a Transpose behind that puts them back, then
/// optimises: the transposes move through the operators, which tests their rules (Layer::permute).
Executor transposing_executor(const LayerTable& layers);

enum class Outcome { passed, failed, refused };

struct CaseResult {
  std::string suite;  ///< "node", "pytorch-operator", ...
  std::string name;   ///< "test_abs"
  Outcome outcome = Outcome::passed;
  std::string reason;  ///< why it failed or was refused
};

/// Empty when `actual` is within rtol |expected| + atol of `expected` (NaN equals NaN; integers exactly),
/// else what differs.
std::string difference(const Tensor& actual, const Tensor& expected, double rtol = 1e-3, double atol = 1e-7);

/// Runs one case of ONNX's backend tests: FOLDER/model.onnx on every FOLDER/test_data_set_*, with ONNX's
/// tolerances. Inputs that shape rules need when the graph is bound are taken from the data set. An
/// InputError before anything has run means refused.
CaseResult run_case(const std::filesystem::path& folder, const LayerTable& layers, const Executor& execute);

/// All cases of the suites below `root` (libonnx-testdata's data folder), sorted, skipping the ones that have
/// no data set of their own.
std::vector<std::filesystem::path> conformance_cases(const std::filesystem::path& root);

/// "passed / failed / refused" by name with the reason, then the totals.
std::string report(const std::vector<CaseResult>& results);

}  // namespace espalier::test
