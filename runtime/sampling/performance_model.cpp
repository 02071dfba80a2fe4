#include "runtime/sampling/performance_model.hpp"

#include <cmath>
#include <fmt/format.h>

#include "runtime/sampling/fields.hpp"

namespace espalier::sampling {
namespace {

constexpr int kMostCombinations = 4096, kMostEntries = 1'000'000;

Measurement read_measurement(Fields& in) {
  Measurement m;
  m.footprint = in.hexadecimal("a footprint");
  m.bytes = in.number("a size");
  m.flops = in.number("a number of flops");
  m.mean = in.number("a mean time", true);
  m.deviation = in.number("a deviation", true);
  m.sum = in.number("a sum", true);
  m.sum_of_squares = in.number("a sum of squares", true);
  m.count = static_cast<std::uint64_t>(in.whole("a number of measurements", 0, std::int64_t{1} << 53));
  if (m.bytes < 0) in.fail(fmt::format("a size of {} bytes", m.bytes));
  if (m.count > 0 && !(m.mean > 0))
    in.fail(fmt::format("a mean time of {} us; more than 0 is needed", m.mean));
  return m;
}

/// The model of one implementation: entries, then the fits, which are read over.
std::vector<Measurement> read_implementation(Fields& in) {
  const auto entries = in.whole("a number of entries", 0, kMostEntries);
  for (int i = 0; i < 9; ++i) in.number("a sum of the regression", true);
  for (int i = 0; i < 3; ++i) in.number("a coefficient", true);
  const auto multiple = in.whole("a number of coefficients", 0, 1000);
  for (std::int64_t i = 0; i < multiple; ++i) in.number("a coefficient", true);
  std::vector<Measurement> out;
  for (std::int64_t i = 0; i < entries; ++i) out.push_back(read_measurement(in));
  return out;
}

ArchType arch_type(std::int64_t number) {
  return number <= 2 ? static_cast<ArchType>(number) : ArchType::other;
}

void read_combination(Fields& in, PerformanceModel& model) {
  const auto devices = in.whole("a number of devices", 1, 64);
  ArchModel arch;
  for (std::int64_t d = 0; d < devices; ++d) {
    arch.type = arch_type(in.whole("a type of device", 0, 100));
    arch.device = static_cast<int>(in.whole("a device", 0, 1'000'000));
    arch.cores = static_cast<int>(in.whole("a number of cores", 0, 1'000'000));
  }
  const auto implementations = in.whole("a number of implementations", 0, 64);
  for (std::int64_t i = 0; i < implementations; ++i) {
    arch.measurements = read_implementation(in);
    if (devices == 1) model.archs.push_back(arch);
  }
}

void write_arch(std::string& out, const ArchModel& arch) {
  out += fmt::format("# number of devices, then type, device and cores\n1\n{}\n{}\n{}\n",
                     static_cast<int>(arch.type), arch.device, arch.cores);
  out += fmt::format("# number of implementations\n1\n# number of entries\n{}\n", arch.measurements.size());
  out += "# sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx maxx\n0 0 0 0 nan nan 0 0 0\n";
  out += "# a b c\nnan nan nan\n# number of coefficients\n0\n";
  out += "# hash size flops mean (us) deviation (us) sum sum2 n\n";
  for (const Measurement& m : arch.measurements)
    out += fmt::format("{:08x}\t{:.0f}\t{:.9e}\t{:.12e}\t{:.6e}\t{:.12e}\t{:.12e}\t{}\n", m.footprint,
                       m.bytes, m.flops, m.mean, m.deviation, m.sum, m.sum_of_squares, m.count);
  out += "\n";
}

}  // namespace

PerformanceModel read_performance_model(std::string_view text, const std::string& name) {
  Fields in(text, name);
  const auto version = in.whole("the version of the format", 0, 1'000'000);
  if (version != kModelVersion)
    in.fail(
        fmt::format("a performance model of version {}; version {} is read (StarPU 1.3 and 1.4 write it: "
                    "measure again with one of these)",
                    version, kModelVersion));
  const auto combinations = in.whole("a number of combinations", 0, kMostCombinations);
  PerformanceModel model;
  for (std::int64_t c = 0; c < combinations; ++c) read_combination(in, model);
  if (!in.at_end()) in.fail("more text than the number of combinations announces");
  return model;
}

std::string performance_model_to_text(const PerformanceModel& model) {
  std::string out = fmt::format("# Performance model, version\n{}\n# number of combinations\n{}\n",
                                kModelVersion, model.archs.size());
  for (const ArchModel& arch : model.archs) write_arch(out, arch);
  return out;
}

}  // namespace espalier::sampling
