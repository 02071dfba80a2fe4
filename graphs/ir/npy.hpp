#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "graphs/ir/tensor.hpp"

namespace espalier {

/// Reads a NumPy .npy file: format versions 1 to 3, C or Fortran order, every dtype of DType in little-endian
/// order (bfloat16 as the two opaque bytes "V2" that NumPy gives it). InputError names the file and what is
/// wrong: truncated, a big-endian or structured or pickled array, data that does not match the shape.
Tensor read_npy(const std::filesystem::path& path);
/// The same from memory; `name` is for messages.
Tensor parse_npy(std::string_view bytes, const std::string& name);

/// Writes version 1.0 (2.0 when the header needs it) in C order; see write_file for errors.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
std::string to_npy(const Tensor& tensor);

}  // namespace espalier
