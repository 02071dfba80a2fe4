#pragma once

#include <filesystem>
#include <string_view>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Reads an ONNX model (opset 7 to 18) into the canonical form of graphs/README.md: later opsets' inputs
/// instead of attributes, spatial operators bracketed by transposes to channels-last. Extents may stay
/// symbolic. InputError names the file and the node: truncated, garbage, unsupported operator, external data
/// outside the model's folder.
Graph import_onnx(const std::filesystem::path& path, const LayerTable& layers);
/// From memory; external data is refused unless `folder` is given.
Graph import_onnx_bytes(std::string_view bytes, const std::string& name, const LayerTable& layers,
                        const std::filesystem::path& folder = {});

/// A TensorProto file (.pb) as ONNX's test sets have them.
Tensor read_tensor_proto(const std::filesystem::path& path);

}  // namespace espalier
