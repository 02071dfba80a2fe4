#pragma once

#include "experiments/conformance/conformance.hpp"

/// Executors on the calling thread, to run ONNX's cases with.
namespace espalier::test {

using conformance::Executor;

/// The reference executor: optimise, then evaluate on the calling thread.
Executor optimising_executor(const LayerTable& layers);
Executor plain_executor(const LayerTable& layers);
/// Gives every run-time input with its axes rotated by one and a Transpose behind that puts them back, then
/// optimises: the transposes move through the operators, which tests their rules (Layer::permute).
Executor transposing_executor(const LayerTable& layers);

}  // namespace espalier::test
