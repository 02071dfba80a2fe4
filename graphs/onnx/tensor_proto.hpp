#pragma once

#include <filesystem>
#include <onnx/onnx_pb.h>

#include "graphs/ir/tensor.hpp"

namespace espalier {

/// DType of ONNX's TensorProto::DataType. InputError naming it when Espalier has none (string, complex).
DType dtype_of_onnx(int data_type);

/// Values of a TensorProto: raw or typed fields, or external data below `folder`. The proto's raw bytes are
/// released on the way, so that a large model is not held twice. InputError names the tensor: data that does
/// not match the shape, an element type that is not supported, external data refused (see external_data.hpp).
Tensor to_tensor(onnx::TensorProto& proto, const std::filesystem::path& folder);

}  // namespace espalier
