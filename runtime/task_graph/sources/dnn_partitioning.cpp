#include <algorithm>
#include <unordered_map>

#include "runtime/task_graph/sources/json_fields.hpp"
#include "runtime/task_graph/sources/profile_builder.hpp"

/// The layer graphs of Tarnawski et al., "Efficient Algorithms for Device Placement of DNN Graph Operators",
/// NeurIPS 2020: nodes with cpuLatency and fpgaLatency in milliseconds, size of the parameters in bytes;
/// edges with the size of what passes. colorClass (nodes that must share a device) is not kept.
namespace espalier {
namespace {

constexpr double kMostMilliseconds = 1e12, kMostBytes = 1e15;

source::LayerProfile read_node(const source::JsonFields& fields, const nlohmann::json& node,
                               const std::string& id) {
  const std::string where = fmt::format("node {}", id);
  source::LayerProfile layer;
  const nlohmann::json* name = fields.find(node, "name");
  layer.name = name != nullptr ? fields.id(*name, "name of " + where) : id;
  layer.operation = "layer";
  const double cpu =
      fields.number(fields.need(node, "cpuLatency", where), "cpuLatency of " + where, kMostMilliseconds);
  const nlohmann::json* accelerator = fields.find(node, "fpgaLatency");
  const nlohmann::json* supported = fields.find(node, "supportedOnFpga");
  const bool runs = accelerator != nullptr &&
                    (supported == nullptr || (supported->is_boolean() && supported->get<bool>()) ||
                     (supported->is_number() && supported->get<double>() != 0));
  layer.forward = {cpu / 1000,
                   runs ? fields.number(*accelerator, "fpgaLatency of " + where, kMostMilliseconds) / 1000
                        : GivenCosts::kUnknown};
  if (const nlohmann::json* size = fields.find(node, "size"))
    layer.parameter_bytes = std::llround(fields.number(*size, "size of " + where, kMostBytes));
  return layer;
}

}  // namespace

LoadedTaskGraph read_dnn_partitioning(std::string_view text, const std::string& name,
                                      const TaskGraphOptions& options) {
  const source::JsonFields fields(name);
  const nlohmann::json root = fields.parse(text);
  source::NetworkProfile profile;
  profile.name = name;
  std::unordered_map<std::string, std::uint32_t> index;
  for (const auto& node : fields.list(root, "nodes", "the file")) {
    const std::string id = fields.id(fields.need(node, "id", "a node"), "id of a node");
    if (!index.try_emplace(id, static_cast<std::uint32_t>(profile.layers.size())).second)
      fields.refuse(fmt::format("node {} is there twice", id));
    profile.layers.push_back(read_node(fields, node, id));
  }
  if (profile.layers.empty()) fields.refuse("the file has no node");
  const auto end_of = [&](const nlohmann::json& edge, const char* key) {
    const std::string id = fields.id(fields.need(edge, key, "an edge"), key);
    const auto it = index.find(id);
    if (it == index.end()) fields.refuse(fmt::format("an edge names node {}, which does not exist", id));
    return it->second;
  };
  for (const auto& edge : fields.list(root, "edges", "the file")) {
    profile.edges.emplace_back(end_of(edge, "sourceId"), end_of(edge, "destId"));
    const nlohmann::json* size = fields.find(edge, "size");
    profile.output_bytes.push_back(
        size == nullptr ? 0 : std::llround(fields.number(*size, "size of an edge", kMostBytes)));
  }
  return source::to_task_graph(profile, options);
}

}  // namespace espalier
