#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"

/// Whatever the bytes are: a bound and optimised graph, or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  try {
    const Graph graph =
        import_onnx_bytes({reinterpret_cast<const char*>(data), size}, "fuzz.onnx", all_layers());
    Binding binding;
    binding.batch = 1;
    binding.max_tensor_bytes = 1 << 20;
    binding.max_folded_bytes = 1 << 20;
    Graph bound = bind(graph, all_layers(), binding);
    optimise(bound, all_layers());
  } catch (const InputError&) {
  }
  return 0;
}

namespace {

std::string corpus;  // NOLINT: libFuzzer's hooks take no context

/// A folder with the small models of libonnx-testdata, removed at the end.
std::string make_corpus() {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "onnx_import_fuzz.XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return {};
  std::error_code error;
  int n = 0;
  for (fs::recursive_directory_iterator it("/usr/share/libonnx-testdata/data", error), end; it != end;
       it.increment(error))
    if (it->path().filename() == "model.onnx" && fs::file_size(it->path(), error) < 16384)
      fs::copy_file(it->path(), fs::path(folder) / std::to_string(n++), error);
  return folder;
}

}  // namespace

/// Without a corpus on the command line the test models are the seeds.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static std::vector<char*> arguments(*argv, *argv + *argc);
  for (std::size_t i = 1; i < arguments.size(); ++i)
    if (arguments[i][0] != '-') return 0;
  corpus = make_corpus();
  if (corpus.empty()) return 0;
  std::atexit([] {
    std::error_code error;
    std::filesystem::remove_all(corpus, error);
  });
  arguments.push_back(corpus.data());
  *argc = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  *argv = arguments.data();
  return 0;
}
