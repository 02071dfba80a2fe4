#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graphs/ir/layer.hpp"

/// One call for one operator over constants; OneNode (one_node.hpp) has the details.
namespace espalier::test {

/// The outputs of `op` with opset-18 inputs (an empty Tensor for an absent one), all of them constants, by
/// the implementation `forced` ("" for the one that is chosen by itself).
std::vector<Tensor> run_op(const LayerTable& layers, const std::string& op, const std::vector<Tensor>& inputs,
                           const Attributes& attributes = {}, int outputs = 1,
                           const std::string& forced = "");

/// The implementations of `op` that serve these inputs, in order of preference.
std::vector<std::string> implementations_of(const LayerTable& layers, const std::string& op,
                                            const std::vector<Tensor>& inputs,
                                            const Attributes& attributes = {}, int outputs = 1);

/// A tensor of another dtype from doubles (rounded, wrapped as Cast would for values in range).
Tensor tensor_of(DType dtype, Shape shape, const std::vector<double>& values);

}  // namespace espalier::test
