#include <filesystem>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/task_graph/sources/source.hpp"
#include "runtime/task_graph/sources/text.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

constexpr std::string_view kAccepted =
    "accepted are .stg, .dot and .gv files with Weight attributes, PipeDream profiles (.txt), "
    "dnn-partitioning and WfCommons files (.json), and generators such as cholesky:20";

/// Which of the JSON formats: WfCommons has a workflow, dnn-partitioning nodes and edges.
LoadedTaskGraph read_json(std::string_view text, const std::string& name, const TaskGraphOptions& options) {
  const auto has = [&](std::string_view key) { return text.find(key) != std::string_view::npos; };
  if (has("\"workflow\"")) return read_wfcommons(text, name);
  if (has("\"nodes\"") && has("\"edges\"")) return read_dnn_partitioning(text, name, options);
  throw InputError(
      fmt::format("{}: neither a WfCommons file (it has no \"workflow\") nor a dnn-partitioning file (it has "
                  "no \"nodes\" and "
                  "\"edges\")",
                  name));
}

}  // namespace

bool is_task_graph_path(std::string_view path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending == ".stg" || ending == ".dot" || ending == ".gv" || ending == ".txt" || ending == ".json";
}

LoadedTaskGraph load_task_graph(const std::string& text, const TaskGraphOptions& options) {
  if (is_generator(text)) return generate(text);
  const std::filesystem::path path(text);
  if (!is_task_graph_path(text)) throw InputError(fmt::format("{}: no task graph; {}", text, kAccepted));
  const std::string content = read_file(path, kMostBytes);
  const std::string name = path.filename().string();
  const std::string ending = path.extension().string();
  if (ending == ".stg") return read_stg(content, name);
  if (ending == ".dot" || ending == ".gv") return read_dot(content, name);
  if (ending == ".txt") return read_pipedream(content, name, options);
  return read_json(content, name, options);
}

}  // namespace espalier
