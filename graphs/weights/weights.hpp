#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "graphs/ir/tensor.hpp"

namespace espalier {

/// Parameters by name ("layer1.0.conv1.weight").
struct Weights {
  std::string source;  ///< the file, for messages
  std::map<std::string, Tensor> tensors;
};

/// Reads safetensors, a PyTorch zip checkpoint or PyTorch's legacy stream format, told apart by content. A
/// checkpoint may be the state dictionary or a dictionary that holds it under "model", "state_dict" or
/// "model_state_dict"; a "module." prefix of every name is dropped. Nothing in the file is executed: only
/// tensors, containers, numbers and strings are built, everything else is an InputError by name.
Weights read_weights(const std::filesystem::path& path);
/// From memory; `name` stands in messages.
Weights read_weights_bytes(std::string_view bytes, const std::string& name);

}  // namespace espalier
