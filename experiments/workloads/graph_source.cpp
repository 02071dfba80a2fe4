#include "experiments/workloads/graph_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/weights/weights.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

constexpr std::array kCheckpoints{".pth", ".pt", ".tar", ".ckpt", ".safetensors", ".bin"};

constexpr std::array kTaskGraphs{".stg", ".dot", ".gv", ".txt", ".json"};

bool ends_like(const std::filesystem::path& path, std::span<const char* const> endings) {
  return std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end();
}

bool is_network(std::string_view name) {
  const auto networks = all_networks();
  return std::any_of(networks.begin(), networks.end(), [&](const NetworkEntry& n) { return n.name == name; });
}

[[noreturn]] void refuse(std::string_view graph) {
  std::string names;
  for (const NetworkEntry& n : all_networks())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", n.name);
  const std::filesystem::path path(graph);
  std::string what = "is neither a file nor a network's name";
  if (std::filesystem::exists(path)) what = "is a file of no known kind";
  if (std::filesystem::is_directory(path)) what = "is a folder";
  if (path.extension() == ".onnx") what = "is missing";
  if (ends_like(path, kCheckpoints))
    what = "is a checkpoint, which holds weights and no graph: name the network and give it as --weights";
  throw InputError(
      fmt::format("{}: {}; accepted are an .onnx file, a task graph (.stg, .dot, ...), or a network: {}",
                  graph, what, names));
}

/// At most `n` names, and how many more there are.
std::string some_of(const std::vector<std::string>& names, std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < std::min(n, names.size()); ++i)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", names[i]);
  return names.size() > n ? fmt::format("{} and {} more", text, names.size() - n) : text;
}

NetworkSource build_named(std::string_view name, const ParameterChoice& choice) {
  NetworkSource source;
  source.name = name;
  source.network = &network_named(name);
  std::unique_ptr<ParameterSource> parameters;
  if (!choice.weights.empty())
    parameters = parameters_from(read_weights(choice.weights));
  else if (choice.seed)
    parameters = random_parameters(*choice.seed);
  else
    parameters = placeholder_parameters();
  const NetworkEntry& named = *source.network;
  if (!named.variant.empty() && parameters->has(std::string(named.variant_parameter)))
    source.network = &network_named(named.variant);
  source.graph = source.network->build(*parameters);
  const std::vector<std::string> unused = parameters->unused();
  if (!unused.empty())
    source.warnings.push_back(fmt::format("{}: {} parameters are not used by {}: {}", choice.weights,
                                          unused.size(), name, some_of(unused, 10)));
  return source;
}

}  // namespace

GraphKind kind_of_graph(std::string_view graph) {
  if (is_network(graph)) return GraphKind::network;
  const std::filesystem::path path(graph);
  if (is_generator(graph) || ends_like(path, kTaskGraphs)) return GraphKind::task_graph;
  if (std::filesystem::is_regular_file(path) && path.extension() == ".onnx") return GraphKind::onnx;
  refuse(graph);
}

NetworkSource load_network(std::string_view graph, const LayerTable& layers, const ParameterChoice& choice) {
  switch (kind_of_graph(graph)) {
    case GraphKind::network:
      return build_named(graph, choice);
    case GraphKind::onnx: {
      if (!choice.weights.empty())
        throw InputError(
            fmt::format("{}: an ONNX file has its own weights; --weights {} goes with a network's name",
                        graph, choice.weights));
      NetworkSource source;
      source.name = std::filesystem::path(graph).stem().string();
      source.graph = import_onnx(std::filesystem::path(graph), layers);
      return source;
    }
    case GraphKind::task_graph:
      break;
  }
  throw InputError(
      fmt::format("{}: a task graph has no tensors; a network's name or an .onnx file is needed", graph));
}

Tensor image_in_order(const Graph& network, std::string_view name, Tensor tensor) {
  const Shape& given = tensor.shape();
  if (tensor.dtype() != DType::f32 || given.rank() != 4 || given[1] != 3 || given[3] == 3) return tensor;
  const bool channels_last = std::any_of(network.inputs.begin(), network.inputs.end(), [&](ValueId v) {
    const Value& value = network.values[static_cast<std::size_t>(v)];
    return value.name == name && value.type && value.type->shape.rank() == 4 && value.type->shape[3] == 3;
  });
  if (!channels_last) return tensor;
  const std::int64_t n = given[0], plane = given[2] * given[3];
  Tensor turned(DType::f32, Shape{n, given[2], given[3], 3});
  const float* from = tensor.as<float>().data();
  float* to = turned.as_mutable<float>().data();
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < 3; ++c)
      for (std::int64_t p = 0; p < plane; ++p) to[(i * plane + p) * 3 + c] = from[(i * 3 + c) * plane + p];
  return turned;
}

Preprocessing preprocessing_of(const NetworkEntry& network) {
  if (network.image_size == 0) throw InputError(fmt::format("network {} reads no image", network.name));
  Preprocessing p;
  p.resize = static_cast<int>(network.resize);
  p.crop = static_cast<int>(network.image_size);
  p.mean = network.mean;
  p.std = network.deviation;
  return p;
}

}  // namespace espalier
