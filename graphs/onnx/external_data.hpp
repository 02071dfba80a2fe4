#pragma once

#include <filesystem>
#include <onnx/onnx_pb.h>

#include "graphs/ir/tensor.hpp"

namespace espalier {

/// Reads the external data of a TensorProto as a tensor of `type`. The
/// location must be a relative path to a regular file inside `folder`: an absolute path, "..", and a symbolic
/// link that leads out of the folder are refused, as are an offset or a length that does not match.
Tensor read_external_data(const onnx::TensorProto& proto, const std::filesystem::path& folder,
                          const TensorType& type);

}  // namespace espalier
