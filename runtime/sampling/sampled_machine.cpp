#include "runtime/sampling/sampled_machine.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/sampling/machine_xml.hpp"

namespace espalier::sampling {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr double kUsable = 0.9;  ///< of a GPU's memory, StarPU's default
constexpr std::string_view kPlatformEnding = ".platform.v4.xml";

std::string read_part(const fs::path& folder, const std::string& host, std::string_view ending) {
  const fs::path path = folder / "bus" / (host + std::string(ending));
  if (!fs::exists(path))
    throw InputError(fmt::format(
        "{}: missing; a calibrated machine HOST has bus/HOST{}, bus/HOST.bandwidth and bus/HOST.latency "
        "(StarPU's starpu_calibrate_bus writes them)",
        path.string(), kPlatformEnding));
  return read_file(path, kMostBytes);
}

std::size_t count_hosts(const MachineXml& xml, std::string_view prefix) {
  return static_cast<std::size_t>(std::count_if(xml.hosts.begin(), xml.hosts.end(),
                                                [&](const auto& h) { return h.name.starts_with(prefix); }));
}

const MachineXml::Host& host_named(const MachineXml& xml, const std::string& name, const std::string& file) {
  const auto it =
      std::find_if(xml.hosts.begin(), xml.hosts.end(), [&](const auto& h) { return h.name == name; });
  if (it == xml.hosts.end()) throw InputError(fmt::format("{}: host {} is missing", file, name));
  return *it;
}

class Builder {
 public:
  Builder(const MachineXml& xml, const std::string& file, const std::string& host) : xml_(xml), file_(file) {
    platform_.name = host;
    platform_.serial_peer_copies = platform_.starpu_costs = true;
    host_named(xml, "RAM", file);
    gpus_ = count_hosts(xml, "CUDA");
    const std::size_t cores = count_hosts(xml, "CPU");
    if (cores + gpus_ == 0) throw InputError(fmt::format("{}: neither a host CPU0 nor a host CUDA0", file));
    if (cores < gpus_)
      throw InputError(
          fmt::format("{}: {} CPU hosts and {} GPUs; each GPU takes a core", file, cores, gpus_));
    if (cores > 4096 || gpus_ > 256)
      throw InputError(fmt::format("{}: {} cores and {} GPUs", file, cores, gpus_));
    add_devices(cores - gpus_);
    add_links();
  }
  Platform take() { return std::move(platform_); }
  std::size_t gpus() const { return gpus_; }

 private:
  void add_devices(std::size_t cpus) {
    platform_.memories.emplace_back().name = "ram";
    DeviceKind cpu;
    cpu.name = "cpu";
    platform_.kinds.push_back(cpu);
    for (std::size_t c = 0; c < cpus; ++c) platform_.workers.push_back({fmt::format("cpu{}", c), 0, 0});
    for (std::size_t g = 0; g < gpus_; ++g) {
      const MachineXml::Host& host = host_named(xml_, fmt::format("CUDA{}", g), file_);
      DeviceKind kind;
      kind.name = fmt::format("cuda{}", g);
      kind.type = DeviceType::cuda;
      platform_.kinds.push_back(kind);
      Memory memory;
      memory.name = kind.name;
      if (host.memory > 0) memory.capacity = Bytes(static_cast<std::int64_t>(host.memory * kUsable));
      platform_.memories.push_back(memory);
      const auto id = static_cast<std::uint16_t>(g + 1);
      platform_.workers.push_back({kind.name, id, id});
    }
  }

  void add_links() {
    std::map<std::string, LinkId> ids;
    const auto nodes = static_cast<MemoryId>(gpus_ + 1);
    std::vector<std::vector<LinkId>> routes(std::size_t{nodes} * nodes);
    for (const MachineXml::Route& r : xml_.routes) {
      const auto from = node_of(r.from), to = node_of(r.to);
      if (!from || !to || from == to) continue;
      for (const std::string& name : r.links) {
        const auto [it, added] = ids.try_emplace(name, static_cast<LinkId>(platform_.links.size()));
        if (added) add_link(name);
        routes[*from * nodes + *to].push_back(it->second);
      }
    }
    set_routes(nodes, routes);
  }
  void add_link(const std::string& name) {
    const auto it =
        std::find_if(xml_.links.begin(), xml_.links.end(), [&](const auto& l) { return l.name == name; });
    if (platform_.links.size() >= 65535) throw InputError(fmt::format("{}: more than 65535 links", file_));
    platform_.links.push_back({it->name, it->bandwidth, Seconds(it->latency), it->shared});
  }
  /// GPUs that do not copy to each other go through main memory.
  void set_routes(MemoryId nodes, const std::vector<std::vector<LinkId>>& routes) {
    const auto at = [&](MemoryId i, MemoryId j) -> const std::vector<LinkId>& {
      return routes[i * nodes + j];
    };
    for (MemoryId g = 1; g < nodes; ++g)
      for (const auto& [from, to] : {std::pair<MemoryId, MemoryId>{0, g}, {g, 0}})
        if (at(from, to).empty())
          throw InputError(fmt::format("{}: no route from {} to {}", file_,
                                       from == 0 ? "RAM" : fmt::format("CUDA{}", from - 1),
                                       to == 0 ? "RAM" : fmt::format("CUDA{}", to - 1)));
    for (MemoryId i = 0; i < nodes; ++i)
      for (MemoryId j = 0; j < nodes; ++j) {
        if (i == j) continue;
        std::vector<LinkId> route = at(i, j);
        if (route.empty()) {
          route = at(i, 0);
          route.insert(route.end(), at(0, j).begin(), at(0, j).end());
        }
        platform_.set_route(i, j, std::move(route));
      }
  }
  std::optional<MemoryId> node_of(const std::string& host) const {
    if (host == "RAM") return MemoryId{0};
    for (std::size_t g = 0; g < gpus_; ++g)
      if (host == fmt::format("CUDA{}", g)) return static_cast<MemoryId>(g + 1);
    return std::nullopt;
  }

  const MachineXml& xml_;
  const std::string& file_;
  std::size_t gpus_ = 0;
  Platform platform_;
};

}  // namespace

SampledMachine read_sampled_machine(const fs::path& folder, const std::string& host) {
  SampledMachine machine;
  machine.folder = folder;
  machine.host = host;
  const std::string stem = (folder / "bus" / host).string(), file = stem + std::string(kPlatformEnding);
  const MachineXml xml = read_machine_xml(read_part(folder, host, kPlatformEnding), file);
  Builder builder(xml, file, host);
  const std::size_t nodes = builder.gpus() + 1;
  machine.bandwidth =
      read_bus_matrix(read_part(folder, host, ".bandwidth"), stem + ".bandwidth", nodes, 1e-6);
  machine.latency = read_bus_matrix(read_part(folder, host, ".latency"), stem + ".latency", nodes, 0);
  for (BusMatrix* m : {&machine.bandwidth, &machine.latency}) {
    m->rows.resize(nodes);
    for (auto& row : m->rows) row.resize(nodes);
  }
  machine.platform = builder.take();
  machine.platform.validate();
  return machine;
}

std::vector<std::string> machines_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "bus", error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kPlatformEnding))
      names.push_back(name.substr(0, name.size() - kPlatformEnding.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace espalier::sampling
