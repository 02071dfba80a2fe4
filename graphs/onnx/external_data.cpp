#include "graphs/onnx/external_data.hpp"

#include <charconv>
#include <fmt/format.h>
#include <fstream>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

struct Location {
  std::string path;
  std::int64_t offset = 0;
  std::int64_t length = -1;  ///< -1: to the end of what the tensor needs
};

std::int64_t to_number(const std::string& key, const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    throw InputError(fmt::format("external data: {} is '{}', a number of bytes is needed", key, text));
  return value;
}

Location location_of(const onnx::TensorProto& proto) {
  Location location;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location.path = entry.value();
    if (entry.key() == "offset") location.offset = to_number("offset", entry.value());
    if (entry.key() == "length") location.length = to_number("length", entry.value());
  }
  if (location.path.empty()) throw InputError("external data without a location");
  return location;
}

/// The file behind a location, once it is known to lie inside the folder.
fs::path resolve(const std::string& location, const fs::path& folder) {
  if (folder.empty())
    throw InputError(
        fmt::format("external data '{}' is refused: the model was not read from a folder", location));
  const fs::path relative(location);
  if (location.find('\0') != std::string::npos || relative.is_absolute())
    throw InputError(
        fmt::format("external data '{}' is refused: a path relative to the model is needed", location));
  for (const fs::path& part : relative)
    if (part == "..")
      throw InputError(fmt::format("external data '{}' is refused: it leaves the model's folder", location));
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  fs::path file = error ? fs::path{} : fs::canonical(root / relative, error);
  if (error)
    throw InputError(fmt::format("external data '{}': {}", (folder / relative).string(), error.message()));
  const fs::path inside = file.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..")
    throw InputError(
        fmt::format("external data '{}' is refused: it leads out of the model's folder", location));
  if (!fs::is_regular_file(file, error))
    throw InputError(fmt::format("external data '{}' is not a regular file", location));
  return file;
}

}  // namespace

Tensor read_external_data(const onnx::TensorProto& proto, const fs::path& folder, const TensorType& type) {
  const Location location = location_of(proto);
  const fs::path path = resolve(location.path, folder);
  const std::int64_t needed = type.bytes();
  if (location.length >= 0 && location.length != needed)
    throw InputError(fmt::format("external data '{}' has a length of {} bytes, {} needs {}", location.path,
                                 location.length, type.to_string(), needed));
  std::ifstream file(path, std::ios::binary);
  const auto size = static_cast<std::int64_t>(fs::file_size(path));
  if (!file || location.offset > size || needed > size - location.offset)
    throw InputError(fmt::format("external data '{}' has {} bytes, {} at offset {} are needed", location.path,
                                 size, needed, location.offset));
  Tensor tensor(type.dtype, type.shape);
  file.seekg(location.offset);
  file.read(static_cast<char*>(tensor.mutable_data()), needed);
  if (file.gcount() != needed)
    throw InputError(fmt::format("external data '{}' cannot be read", location.path));
  return tensor;
}

}  // namespace espalier
