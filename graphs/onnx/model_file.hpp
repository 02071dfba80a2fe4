#pragma once

#include <functional>
#include <onnx/onnx_pb.h>
#include <string_view>

namespace espalier {

/// Parses a protobuf message from memory and hands it to `use`. Guards against hostile files: at most 2 GB
/// and 100 levels of nesting, and the parsed form may take at most 32 times the file's size plus 64 MB of
/// memory beside its byte strings (an empty sub-message of two bytes would grow a hundredfold). InputError
/// starting with `what` ("model.onnx: model") for anything else. Protobuf prints nothing.
void parse_model(std::string_view bytes, const std::string& what,
                 const std::function<void(onnx::ModelProto&)>& use);
void parse_tensor(std::string_view bytes, const std::string& what,
                  const std::function<void(onnx::TensorProto&)>& use);

}  // namespace espalier
