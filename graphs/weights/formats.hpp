#pragma once

#include <map>
#include <string>
#include <string_view>

#include "graphs/ir/tensor.hpp"

/// The three formats behind read_weights, each from memory. They throw InputError without the file's name:
/// the caller puts it in front. Tensors own their memory.
namespace espalier {

using TensorMap = std::map<std::string, Tensor>;

/// safetensors: 8 bytes header length, JSON header {name: {dtype, shape, data_offsets}}, data without gaps.
/// Source: the format's specification in its README.
bool looks_like_safetensors(std::string_view bytes);
TensorMap read_safetensors(std::string_view bytes);

/// PyTorch's zip: PREFIX/data.pkl, PREFIX/byteorder, and PREFIX/data/KEY for each storage.
bool looks_like_zip(std::string_view bytes);
TensorMap read_torch_zip(std::string_view bytes);

/// PyTorch's stream of before 1.6: pickles of a magic number, the protocol, the system, the object and the
/// storages' keys, then each storage as a 64-bit count and its elements.
bool looks_like_pickle(std::string_view bytes);
TensorMap read_torch_legacy(std::string_view bytes);

}  // namespace espalier
