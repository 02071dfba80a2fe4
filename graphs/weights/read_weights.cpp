#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/base/mapped_file.hpp"
#include "graphs/weights/formats.hpp"
#include "graphs/weights/weights.hpp"

namespace espalier {
namespace {

constexpr std::string_view kPrefix = "module.";  // of torch.nn.DataParallel

[[noreturn]] void refuse_unknown(std::string_view bytes) {
  std::string_view what = "its format is not known";
  if (bytes.empty()) what = "the file is empty";
  if (bytes.size() > 262 && bytes.substr(257, 5) == "ustar")
    what = "a tar archive (PyTorch before 0.1.10); save it again with a later version";
  if (bytes.starts_with("\x89HDF")) what = "an HDF5 file";
  if (bytes.starts_with("\x93NUMPY")) what = "a NumPy array";
  if (bytes.starts_with("\x1f\x8b")) what = "compressed with gzip; unpack it first";
  throw InputError(
      fmt::format("{}; accepted are safetensors and PyTorch checkpoints (zip and legacy stream)", what));
}

TensorMap read_any(std::string_view bytes) {
  if (looks_like_zip(bytes)) return read_torch_zip(bytes);
  if (looks_like_safetensors(bytes)) return read_safetensors(bytes);
  if (looks_like_pickle(bytes)) return read_torch_legacy(bytes);
  refuse_unknown(bytes);
}

void drop_prefix(TensorMap& tensors) {
  const bool all = std::all_of(tensors.begin(), tensors.end(),
                               [](const auto& entry) { return entry.first.starts_with(kPrefix); });
  if (!all) return;
  TensorMap renamed;
  for (auto& [name, tensor] : tensors) renamed.emplace(name.substr(kPrefix.size()), std::move(tensor));
  tensors = std::move(renamed);
}

}  // namespace

Weights read_weights_bytes(std::string_view bytes, const std::string& name) {
  try {
    Weights weights{name, read_any(bytes)};
    if (weights.tensors.empty()) throw InputError("it holds no tensors");
    drop_prefix(weights.tensors);
    return weights;
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", name, e.what()));
  }
}

Weights read_weights(const std::filesystem::path& path) {
  const FileBytes file = map_file(path);
  return read_weights_bytes(file.bytes, path.string());
}

}  // namespace espalier
