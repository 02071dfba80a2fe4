#include "runtime/simgrid/sampling_writer.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "graphs/base/file_io.hpp"
#include "runtime/sampling/machine_xml.hpp"
#include "runtime/sampling/performance_model.hpp"

namespace espalier::simgrid {
namespace {

namespace fs = std::filesystem;
using namespace sampling;

constexpr double kUsable = 0.9;           ///< of memsize, StarPU's default
constexpr double kMostMemory = 1e15;      ///< stands for an unbounded memory
constexpr double kLeastSeconds = 1e-9;    ///< StarPU refuses a time of 0
constexpr std::uint64_t kMeasured = 100;  ///< 10 count as calibrated

std::string host_of(MemoryId node) {
  return node == 0 ? "RAM" : fmt::format("CUDA{}", node - 1);
}

/// StarPU gives each GPU a core for the thread that drives it.
MachineXml machine_of(const StarpuOrder& order) {
  const Platform& p = order.platform;
  MachineXml xml;
  xml.hosts.push_back({"MAIN", 0, false});
  for (unsigned c = 0; c < order.cpus + order.gpus; ++c)
    xml.hosts.push_back({fmt::format("CPU{}", c), 0, false});
  for (unsigned g = 0; g < order.gpus; ++g) {
    const auto capacity = static_cast<double>(p.memories[g + 1U].capacity.value);
    xml.hosts.push_back({fmt::format("CUDA{}", g), std::min(capacity / kUsable, kMostMemory), true});
  }
  xml.hosts.push_back({"RAM", 0, false});
  for (std::size_t l = 0; l < p.links.size(); ++l)
    xml.links.push_back(
        {fmt::format("link{}", l), p.links[l].bandwidth, p.links[l].latency.value, p.links[l].shared});
  for (MemoryId i = 0; i < p.memories.size(); ++i)
    for (MemoryId j = 0; j < p.memories.size(); ++j) {
      if (i == j || !p.has_route(i, j)) continue;
      MachineXml::Route route{host_of(i), host_of(j), {}};
      for (const LinkId l : p.route(i, j)) route.links.push_back(fmt::format("link{}", l));
      xml.routes.push_back(std::move(route));
    }
  return xml;
}

Bus bus_of(const Platform& p) {
  const std::size_t n = p.memories.size();
  Bus bus;
  bus.bandwidth.rows.assign(n, std::vector<double>(n, 0));
  bus.latency.rows = bus.bandwidth.rows;
  for (MemoryId i = 0; i < n; ++i)
    for (MemoryId j = 0; j < n; ++j) {
      if (i == j || !p.has_route(i, j)) continue;
      const double latency = p.transfer_time(Bytes(0), i, j).value;
      constexpr std::int64_t probe = std::int64_t{1} << 40;
      const double seconds = p.transfer_time(Bytes(probe), i, j).value - latency;
      bus.latency.rows[i][j] = latency * 1e6;
      bus.bandwidth.rows[i][j] = static_cast<double>(probe) / seconds / 1e6;
    }
  return bus;
}

std::string configuration_of(const StarpuOrder& order) {
  return fmt::format(
      "# Current configuration\n{} # Number of CPUs\n1 # Number of NUMA nodes\n{} # Number of CUDA devices\n"
      "0 # Number of OpenCL devices\n",
      order.cpus + order.gpus, order.gpus);
}

/// One for all cores, or for each where they differ, and one for each GPU.
PerformanceModel empty_model(const StarpuOrder& order) {
  PerformanceModel model;
  const unsigned cpus = cores_differ(order) ? order.cpus : std::min(order.cpus, 1U);
  for (unsigned c = 0; c < cpus; ++c) model.archs.push_back({ArchType::cpu, static_cast<int>(c), 1, {}});
  for (unsigned g = 0; g < order.gpus; ++g)
    model.archs.push_back({ArchType::cuda, static_cast<int>(g), 1, {}});
  return model;
}

Measurement measured(double seconds, std::uint32_t footprint, double bytes, double flops) {
  const double us = std::max(seconds, kLeastSeconds) * 1e6, n = static_cast<double>(kMeasured);
  return {footprint, bytes, flops, us, 0, n * us, n * us * us, kMeasured};
}

}  // namespace

bool cores_differ(const StarpuOrder& order) {
  for (std::size_t w = order.gpus; w + 1 < order.platform.workers.size(); ++w)
    if (order.platform.workers[w].kind != order.platform.workers[w + 1].kind) return true;
  return false;
}

std::string model_symbol(const std::string& codelet) {
  std::string out = "espalier_" + codelet;
  for (char& c : out)
    if (c == '/' || c == '.' || static_cast<unsigned char>(c) <= ' ') c = '_';
  return out.substr(0, 200);
}

void write_sampling(const fs::path& folder, const StarpuOrder& order, const TaskGraph& graph,
                    const CostTable& costs, const std::vector<std::uint32_t>& footprints, const Bus* bus) {
  const fs::path codelets = folder / "codelets" / std::to_string(kModelVersion);
  fs::create_directories(folder / "bus");
  fs::create_directories(codelets);
  const Platform& p = order.platform;
  const std::string stem = (folder / "bus" / kHost).string();
  write_file(stem + ".platform.v4.xml", machine_xml_to_text(machine_of(order)));
  const Bus own = bus == nullptr ? bus_of(p) : *bus;
  write_file(stem + ".bandwidth", bus_matrix_to_text(own.bandwidth));
  write_file(stem + ".latency", bus_matrix_to_text(own.latency));
  write_file(stem + ".config", configuration_of(order));
  std::map<std::string, PerformanceModel> models;
  for (CostClass c = 0; c < graph.classes.size(); ++c) {
    const CostClassInfo& what = graph.classes[c];
    auto& archs = models.try_emplace(model_symbol(what.codelet), empty_model(order)).first->second.archs;
    for (std::size_t a = 0; a < archs.size(); ++a) {
      const auto device = static_cast<unsigned>(archs[a].device);
      const unsigned worker = archs[a].type == ArchType::cpu ? order.gpus + device : device;
      const KindId kind = p.workers[worker].kind;
      if (!costs.can_run(c, kind)) continue;
      archs[a].measurements.push_back(measured(costs.seconds(c, kind) + p.kinds[kind].task_overhead.value,
                                               footprints[c], static_cast<double>(what.bytes.value),
                                               what.flops.value));
    }
  }
  for (const auto& [symbol, model] : models)
    write_file(codelets / fmt::format("{}.{}", symbol, kHost), performance_model_to_text(model));
}

}  // namespace espalier::simgrid
