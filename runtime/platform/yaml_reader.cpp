#include "runtime/platform/yaml_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <yaml-cpp/yaml.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/quantity.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMostCount = 4096;

class Reader {
 public:
  Reader(const std::string& name, const std::function<MachineDescription(const std::string&)>& load)
      : name_(name), load_(load) {}

  MachineDescription read(const YAML::Node& root);

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", name_, node.Mark().line + 1, message));
  }
  /// Puts file and line in front of what f complains about.
  template <class F>
  auto at(const YAML::Node& node, F&& f) const {
    try {
      return f();
    } catch (const InputError& e) {
      fail(node, e.what());
    }
  }
  void require_keys(const YAML::Node& node, const std::string& what,
                    std::initializer_list<std::string_view> accepted) const {
    if (!node.IsMap())
      fail(node, fmt::format("{} is a map with some of: {}", what, fmt::join(accepted, ", ")));
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      const std::string k = key.IsScalar() ? key.Scalar() : "";
      if (std::find(accepted.begin(), accepted.end(), k) == accepted.end())
        fail(key, fmt::format("{} has no \"{}\"; accepted are {}", what, k, fmt::join(accepted, ", ")));
    }
  }
  /// By value (a handle): the argument may be a temporary, and what is given is looped over.
  YAML::Node list(const YAML::Node& node, const char* what) const {
    if (!node.IsSequence()) fail(node, fmt::format("{} is a list", what));
    return node;
  }
  std::string text(const YAML::Node& node, const char* what) const {
    if (!node.IsScalar() || node.Scalar().empty() || node.Scalar().size() > 200)
      fail(node, fmt::format("{}: a short text was expected", what));
    return node.Scalar();
  }
  YAML::Node need(const YAML::Node& node, const char* key, const char* what) const {
    YAML::Node child = node[key];
    if (!child) fail(node, fmt::format("{} needs \"{}\"", what, key));
    return child;
  }
  double quantity(const YAML::Node& node, const char* what, Dimension dimension) const {
    const std::string value = text(node, what);
    try {
      return parse_quantity(value, dimension);
    } catch (const InputError& e) {
      fail(node, fmt::format("{}: {}", what, e.what()));
    }
  }
  double positive(const YAML::Node& node, const char* what, Dimension dimension) const {
    const double value = quantity(node, what, dimension);
    if (value <= 0) fail(node, fmt::format("{} must be more than 0", what));
    return value;
  }
  Bytes bytes(const YAML::Node& node, const char* what) const {
    const double value = positive(node, what, Dimension::bytes);
    if (value > 9e18) fail(node, fmt::format("{}: too large", what));
    return Bytes(static_cast<std::int64_t>(value));
  }
  std::int64_t count(const YAML::Node& node) const {
    std::int64_t value = 0;
    if (!node.IsScalar() || !YAML::convert<std::int64_t>::decode(node, value) || value < 1 ||
        value > kMostCount)
      fail(node, fmt::format("count: a whole number 1 .. {} was expected", kMostCount));
    return value;
  }
  bool flag(const YAML::Node& node, const char* what) const {
    bool value = false;
    if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value))
      fail(node, fmt::format("{}: true or false was expected", what));
    return value;
  }

  void read_kinds(const YAML::Node& kinds) {
    if (!kinds.IsMap())
      fail(kinds,
           "kinds is a map from names to {type, peak, memory_bandwidth, task_overhead, costs, scaled_costs}");
    for (const auto& entry : kinds) {
      const YAML::Node &key = entry.first, &value = entry.second;
      require_keys(value, "a kind",
                   {"type", "peak", "memory_bandwidth", "task_overhead", "costs", "scaled_costs"});
      DeviceKind kind;
      kind.name = text(key, "name of a kind");
      const YAML::Node type = need(value, "type", "a kind");
      const std::string t = text(type, "type");
      if (t != "cpu" && t != "cuda" && t != "other")
        fail(type, fmt::format("type \"{}\" is not known; accepted are cpu, cuda, other", t));
      kind.type = t == "cpu" ? DeviceType::cpu : t == "cuda" ? DeviceType::cuda : DeviceType::other;
      if (value["peak"]) kind.peak_flops = positive(value["peak"], "peak", Dimension::compute);
      if (value["memory_bandwidth"])
        kind.memory_bandwidth = positive(value["memory_bandwidth"], "memory_bandwidth", Dimension::bandwidth);
      if (value["task_overhead"])
        kind.task_overhead = Seconds(quantity(value["task_overhead"], "task_overhead", Dimension::time));
      read_costs(value, kind);
      at(key, [&] { machine_.topology.add_kind(kind); });
    }
  }

  /// Whose fitted costs a kind has: costs as they are, scaled_costs by the ratio of the peaks.
  void read_costs(const YAML::Node& kind_node, DeviceKind& kind) const {
    if (kind_node["costs"]) kind.costs = text(kind_node["costs"], "costs");
    if (!kind_node["scaled_costs"]) return;
    const YAML::Node scaled = kind_node["scaled_costs"];
    if (!kind.costs.empty()) fail(scaled, "a kind has either costs or scaled_costs");
    kind.costs = text(scaled, "scaled_costs");
    kind.costs_scaled = true;
    if (kind.peak_flops <= 0 || kind.memory_bandwidth <= 0)
      fail(scaled, "scaled_costs needs peak and memory_bandwidth: costs are scaled by their ratio");
  }

  void read_memories(const YAML::Node& memories) {
    if (!memories.IsMap()) fail(memories, "memories is a map from names to capacities, as in main: 64 GiB");
    for (const auto& entry : memories) {
      const YAML::Node &key = entry.first, &value = entry.second;
      YAML::Node capacity = value;
      if (value.IsMap()) {
        require_keys(value, "a memory", {"capacity"});
        capacity.reset(need(value, "capacity", "a memory"));
      }
      const Bytes size = bytes(capacity, "capacity");
      at(key, [&] { machine_.topology.add_memory(text(key, "name of a memory"), size); });
    }
  }

  void read_machines(const YAML::Node& machines) {
    for (const YAML::Node& m : list(machines, "machines")) {
      require_keys(m, "a machine", {"platform", "count", "name"});
      const YAML::Node platform = need(m, "platform", "a machine");
      const MachineDescription other = at(platform, [&] { return load_(text(platform, "platform")); });
      const std::string name = text(need(m, "name", "a machine"), "name");
      const std::int64_t n = m["count"] ? count(m["count"]) : 1;
      for (std::int64_t i = 0; i < n; ++i)
        at(m, [&] {
          machine_.topology.include(other.topology, m["count"] ? fmt::format("{}{}.", name, i) : name + ".");
        });
    }
  }

  void read_device(const YAML::Node& d) {
    require_keys(d, "a device", {"name", "kind", "count", "memory"});
    const std::string name = text(need(d, "name", "a device"), "name");
    const YAML::Node kind_node = need(d, "kind", "a device");
    const std::string kind_name = text(kind_node, "kind");
    const auto& kinds = machine_.topology.kinds();
    const auto kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const DeviceKind& k) { return k.name == kind_name; });
    if (kind == kinds.end()) {
      std::string known;
      for (const DeviceKind& k : kinds) known += (known.empty() ? "" : ", ") + k.name;
      fail(kind_node, fmt::format("kind \"{}\" is not declared; declared are {}", kind_name, known));
    }
    const auto k = static_cast<KindId>(kind - kinds.begin());
    const YAML::Node memory = need(d, "memory", "a device");
    const auto* shared = machine_.topology.find(text(memory, "memory"));
    const Bytes own = shared != nullptr ? Bytes(0) : own_memory(memory);
    const std::int64_t n = d["count"] ? count(d["count"]) : 1;
    for (std::int64_t i = 0; i < n; ++i)
      at(d, [&] {
        const std::string worker = d["count"] ? fmt::format("{}{}", name, i) : name;
        if (shared != nullptr && !machine_.topology.is_memory(*shared))
          throw InputError(fmt::format("\"{}\" is a switch, not a memory", memory.Scalar()));
        const Topology::Vertex where =
            shared != nullptr ? *shared : machine_.topology.add_memory(worker, own);
        machine_.topology.add_worker(worker, k, where);
      });
  }

  Bytes own_memory(const YAML::Node& memory) const {
    const std::string& value = memory.Scalar();
    if (value[0] < '0' || value[0] > '9')
      fail(memory, fmt::format("memory \"{}\" is neither a declared memory nor a size like 16 GiB", value));
    return bytes(memory, "memory");
  }

  std::vector<Topology::Vertex> ends(const YAML::Node& node, const char* what) const {
    std::vector<Topology::Vertex> out;
    const auto one = [&](const YAML::Node& n) {
      const std::string name = text(n, what);
      const auto* v = machine_.topology.find(name);
      if (v == nullptr)
        fail(n, fmt::format("{}: \"{}\" is neither a memory, a device with its own memory nor a switch", what,
                            name));
      out.push_back(*v);
    };
    if (node.IsSequence())
      for (const YAML::Node& n : node) one(n);
    else
      one(node);
    return out;
  }

  void read_link(const YAML::Node& l) {
    require_keys(l, "a link", {"from", "to", "bandwidth", "latency", "duplex", "shared"});
    const auto from = ends(need(l, "from", "a link"), "from");
    const auto to = ends(need(l, "to", "a link"), "to");
    Topology::Edge e{};
    e.bandwidth = positive(need(l, "bandwidth", "a link"), "bandwidth", Dimension::bandwidth);
    e.latency = Seconds(quantity(need(l, "latency", "a link"), "latency", Dimension::time));
    e.full_duplex = true;
    e.shared = !l["shared"] || flag(l["shared"], "shared");
    if (l["duplex"]) {
      const std::string duplex = text(l["duplex"], "duplex");
      if (duplex != "full" && duplex != "half")
        fail(l["duplex"], fmt::format("duplex \"{}\": full or half was expected", duplex));
      e.full_duplex = duplex == "full";
    }
    for (const Topology::Vertex a : from)
      for (const Topology::Vertex b : to) {
        if (a == b) fail(l, "a link joins two different ends");
        e.a = a;
        e.b = b;
        at(l, [&] { machine_.topology.connect(e); });
      }
  }

  void read_peer_copies(const YAML::Node& node) {
    const std::string copies = text(node, "peer_copies");
    if (copies != "serial" && copies != "parallel")
      fail(node, fmt::format("peer_copies \"{}\": serial or parallel was expected", copies));
    machine_.topology.set_serial_peer_copies(copies == "serial");
  }

  const std::string& name_;
  const std::function<MachineDescription(const std::string&)>& load_;
  MachineDescription machine_;
};

MachineDescription Reader::read(const YAML::Node& root) {
  require_keys(
      root, "a platform",
      {"name", "summary", "kinds", "memories", "switches", "devices", "links", "machines", "peer_copies"});
  machine_.name = root["name"] ? text(root["name"], "name") : name_;
  if (root["summary"]) machine_.summary = text(root["summary"], "summary");
  if (root["kinds"]) read_kinds(root["kinds"]);
  if (root["memories"]) read_memories(root["memories"]);
  if (root["machines"]) read_machines(root["machines"]);
  if (root["switches"])
    for (const YAML::Node& s : list(root["switches"], "switches"))
      at(s, [&] { machine_.topology.add_switch(text(s, "switch")); });
  if (root["devices"])
    for (const YAML::Node& d : list(root["devices"], "devices")) read_device(d);
  if (root["links"])
    for (const YAML::Node& l : list(root["links"], "links")) read_link(l);
  if (root["peer_copies"]) read_peer_copies(root["peer_copies"]);
  if (machine_.topology.worker_count() == 0)
    fail(root,
         "the platform has no device: devices: [{name: cpu, kind: ..., count: 8, memory: ...}] is needed");
  return std::move(machine_);
}

}  // namespace

MachineDescription read_machine(std::string_view yaml, const std::string& name,
                                const std::function<MachineDescription(const std::string&)>& load) {
  try {
    const YAML::Node root = YAML::Load(std::string(yaml));
    return Reader(name, load).read(root);
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}: {}", name, e.mark.line + 1, e.msg));
  }
}

}  // namespace espalier
