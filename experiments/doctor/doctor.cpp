#include "experiments/doctor/doctor.hpp"

#include <CLI/Version.hpp>
#include <CbcConfig.h>
#include <ClpConfig.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>
#include <hwloc.h>
#include <jconfig.h>
#include <nlohmann/json.hpp>
#include <oneapi/dnnl/dnnl.hpp>
#include <png.h>
#include <spdlog/version.h>
#include <sys/wait.h>
#include <unistd.h>
#include <webp/decode.h>
#include <zip.h>

#include "experiments/conformance/conformance.hpp"
#include "graphs/base/error.hpp"
#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/starpu_info.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

#define ESPALIER_QUOTE(x) #x
#define ESPALIER_TEXT(x) ESPALIER_QUOTE(x)

std::string dotted(int major, int minor, int patch) {
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::string apt(const char* package) {
  return fmt::format("apt-get install {}", package);
}

std::string find_program(const char* name, const std::vector<std::string>& more) {
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  std::vector<std::string> folders = more;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    folders.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  for (const std::string& folder : folders)
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return {};
}

std::string nvidia_driver() {
  return fs::exists("/proc/driver/nvidia/version") ? "loaded" : "";
}

std::string found_at(const char* path) {
  std::error_code code;
  return fs::exists(path, code) ? path : "";
}

std::vector<Component> find_components(const starpu::StarpuInfo& starpu) {
  const dnnl_version_t* dnnl = dnnl_version();
  const int webp = WebPGetDecoderVersion();
  const int protobuf = GOOGLE_PROTOBUF_VERSION;
  const std::string nvcc = find_program("nvcc", {"/usr/local/cuda/bin"});
  const std::string mpirun = find_program("mpirun", {});
  return {
      {"StarPU", starpu.version, "runs the tasks", apt("libstarpu-dev"), true},
      {"oneDNN", dotted(dnnl->major, dnnl->minor, dnnl->patch), "kernels on the CPU", apt("libdnnl-dev"),
       true},
      {"hwloc", HWLOC_VERSION, "describes the machine", apt("libhwloc-dev"), true},
      {"protobuf", dotted(protobuf / 1000000, protobuf / 1000 % 1000, protobuf % 1000), "reads ONNX models",
       apt("libonnx-dev libprotobuf-dev"), true},
      {"CLI11", CLI11_VERSION, "command line", apt("libcli11-dev"), true},
      {"fmt", dotted(FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100), "text",
       apt("libfmt-dev"), true},
      {"spdlog", dotted(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH), "messages",
       apt("libspdlog-dev"), true},
      {"nlohmann-json",
       dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH), "JSON",
       apt("nlohmann-json3-dev"), true},
      {"yaml-cpp", ESPALIER_YAML_CPP_VERSION, "platforms", apt("libyaml-cpp-dev"), true},
      {"libjpeg-turbo", ESPALIER_TEXT(LIBJPEG_TURBO_VERSION), "photographs", apt("libjpeg-dev"), true},
      {"libpng", PNG_LIBPNG_VER_STRING, "photographs", apt("libpng-dev"), true},
      {"libwebp", dotted(webp >> 16, webp >> 8 & 0xff, webp & 0xff), "photographs", apt("libwebp-dev"), true},
      {"libzip", zip_libzip_version(), "PyTorch checkpoints", apt("libzip-dev"), true},
      {"Clp", CLP_VERSION, "bounds by linear programming", apt("coinor-libclp-dev"), true},
      {"Cbc", CBC_VERSION, "integer programming", apt("coinor-libcbc-dev"), true},
      {"CUDA compiler", nvcc, "the CUDA flavour", "install the CUDA toolkit of the GPU's vendor", false},
      {"NVIDIA driver", nvidia_driver(), "running on a GPU", "install the GPU's driver", false},
      {"GoogleTest", found_at("/usr/include/gtest/gtest.h"), "the tests", apt("libgtest-dev libgmock-dev"),
       false},
      {"ONNX's cases", found_at(conformance::kDebianFolder), "espalier conformance", apt("libonnx-testdata"),
       false},
      {"mpirun", mpirun, "several nodes", apt("openmpi-bin libopenmpi-dev"), false},
  };
}

std::vector<StarpuFlavour> find_flavours() {
  std::vector<StarpuFlavour> flavours;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(fs::path(cache_folder()) / "starpu", code)) {
    if (!fs::exists(entry.path() / "done")) continue;
    const std::string key = entry.path().filename().string();
    const std::size_t dash = key.find('-');
    flavours.push_back(
        {key.substr(0, dash), entry.path().string(), dash == std::string::npos ? "" : key.substr(dash + 1)});
  }
  std::sort(flavours.begin(), flavours.end(),
            [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return flavours;
}

std::string instruction_set() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "SSE4.1";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX-512 with VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX-512 with bfloat16";
    case dnnl_cpu_isa_avx512_core_amx:
      return "AVX-512 with AMX";
    default:
      return "unknown";
  }
}

}  // namespace

std::string cache_folder() {
  if (const char* own = std::getenv("ESPALIER_CACHE"); own != nullptr && *own != 0) return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != 0)
    return std::string(xdg) + "/espalier";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.cache/espalier";
}

Diagnosis diagnose() {
  const starpu::StarpuInfo starpu = starpu::starpu_info();
  Diagnosis d;
  d.components = find_components(starpu);
  d.flavours = find_flavours();
  d.machine_cores = static_cast<int>(starpu::machine_cores());
  d.starpu_cores = starpu.max_cpus;
  d.instruction_set = instruction_set();
  d.memory_bytes = static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  if (d.machine_cores <= d.starpu_cores)
    d.advice.push_back(
        fmt::format("the StarPU library serves all {} cores of this machine", d.machine_cores));
  const auto has_flavour = [&](const char* name) {
    return std::any_of(d.flavours.begin(), d.flavours.end(),
                       [&](const StarpuFlavour& f) { return f.name == name; });
  };
  if (d.machine_cores > d.starpu_cores)
    d.advice.push_back(
        fmt::format("this machine has {} cores, the StarPU library serves {}: espalier doctor --build "
                    "native, then build Espalier again",
                    d.machine_cores, d.starpu_cores));
  if (!has_flavour("simgrid"))
    d.advice.push_back(
        "no SimGrid flavour, so --engine simgrid is not there: espalier doctor --build simgrid, then build "
        "Espalier again");
  if (!starpu.cuda && !nvidia_driver().empty() && !has_flavour("cuda"))
    d.advice.push_back(
        "a GPU is here and the StarPU library has no CUDA: espalier doctor --build cuda, then build Espalier "
        "again");
  return d;
}

int build_flavour(const std::string& flavour) {
  if (flavour != "simgrid" && flavour != "native" && flavour != "cuda")
    throw InputError(fmt::format("flavour {} is not known; known are simgrid, native and cuda", flavour));
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  fs::path script = self.parent_path().parent_path() / "share/espalier/experiments/setup/build_starpu.sh";
  if (!fs::exists(script)) script = fs::path(ESPALIER_SETUP_FOLDER) / "build_starpu.sh";
  if (!fs::exists(script))
    throw InputError(fmt::format("{}: the build script is not there", script.string()));
  const pid_t child = fork();
  if (child < 0) throw DeviceError("no process could be started for the build script");
  if (child == 0) {
    execl(script.c_str(), script.c_str(), flavour.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace espalier
