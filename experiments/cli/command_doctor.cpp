#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/doctor/doctor.hpp"
#include "runtime/starpu/starpu_info.hpp"

namespace espalier {
namespace {

void print_text(const Diagnosis& d, const starpu::StarpuInfo& starpu) {
  fmt::print("machine: {} cores, {:.1f} GiB of memory, {}\n", d.machine_cores,
             static_cast<double>(d.memory_bytes) / (1 << 30), d.instruction_set);
  fmt::print(
      "StarPU {}: at most {} CPU workers, {} CUDA devices, {} memory nodes; CUDA {}, SimGrid {}, OpenCL {}, "
      "MPI {}\n\n",
      starpu.version, starpu.max_cpus, starpu.max_cuda_devices, starpu.max_memory_nodes,
      starpu.cuda ? "yes" : "no", starpu.simgrid ? "yes" : "no", starpu.opencl ? "yes" : "no",
      starpu.mpi ? "yes" : "no");
  for (const Component& c : d.components)
    fmt::print("  {:<16} {:<35} {}{}\n", c.name, c.version.empty() ? "not found" : c.version, c.purpose,
               c.version.empty() ? fmt::format(" ({}: {})", c.required ? "needed" : "optional", c.cure) : "");
  fmt::print("\nflavours of StarPU in {}/starpu: {}\n", cache_folder(), d.flavours.empty() ? "none" : "");
  for (const StarpuFlavour& f : d.flavours) fmt::print("  {:<8} {}\n", f.name, f.folder);
  for (const std::string& line : d.advice) fmt::print("\n{}\n", line);
}

void print_json(const Diagnosis& d, const starpu::StarpuInfo& starpu) {
  nlohmann::ordered_json json;
  json["machine"] = {
      {"cores", d.machine_cores}, {"memory_bytes", d.memory_bytes}, {"instruction_set", d.instruction_set}};
  json["starpu"] = {{"version", starpu.version},
                    {"max_cpus", starpu.max_cpus},
                    {"max_cuda_devices", starpu.max_cuda_devices},
                    {"cuda", starpu.cuda},
                    {"simgrid", starpu.simgrid},
                    {"opencl", starpu.opencl},
                    {"mpi", starpu.mpi}};
  for (const Component& c : d.components)
    json["components"].push_back({{"name", c.name},
                                  {"version", c.version},
                                  {"found", !c.version.empty()},
                                  {"required", c.required},
                                  {"cure", c.cure}});
  json["flavours"] = nlohmann::ordered_json::array();
  for (const StarpuFlavour& f : d.flavours)
    json["flavours"].push_back({{"name", f.name}, {"folder", f.folder}, {"version", f.version}});
  json["advice"] = d.advice;
  fmt::print("{}\n", json.dump(2));
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "What is installed, what is missing, and the command that brings it");
  struct Options {
    bool json = false;
    std::string build;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--build", options->build,
                      "build a flavour of StarPU into the cache: simgrid, native or cuda");
  command->footer("Examples:\n  espalier doctor\n  espalier doctor --build simgrid");
  command->callback([options, &exit_code] {
    if (!options->build.empty()) {
      if (build_flavour(options->build) != 0) exit_code = kOurFault;
      return;
    }
    const Diagnosis diagnosis = diagnose();
    const starpu::StarpuInfo starpu = starpu::starpu_info();
    options->json ? print_json(diagnosis, starpu) : print_text(diagnosis, starpu);
    for (const Component& c : diagnosis.components)
      if (c.required && c.version.empty()) exit_code = kDoneInPart;
  });
}

}  // namespace espalier
