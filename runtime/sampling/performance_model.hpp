#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::sampling {

/// What StarPU measured of one codelet: codelets/45/SYMBOL.HOST (StarPU Handbook, "Performance Model File
/// Format"). Times in microseconds as in the file.
struct Measurement {
  std::uint32_t footprint = 0;  ///< StarPU's hash of the data's sizes
  double bytes = 0;             ///< of all data of the task, each once
  double flops = 0;
  double mean = 0, deviation = 0;
  double sum = 0, sum_of_squares = 0;
  std::uint64_t count = 0;
};

enum class ArchType : std::uint8_t { cpu = 0, cuda = 1, opencl = 2, other };

/// One implementation on one device.
struct ArchModel {
  ArchType type = ArchType::cpu;
  int device = 0;  ///< number of the accelerator; 0 for CPUs
  int cores = 1;   ///< of a parallel task
  std::vector<Measurement> measurements;
};

struct PerformanceModel {
  std::vector<ArchModel> archs;  ///< combined workers (several devices) are left out
};

/// The version of the format that is read and written, also the name of its folder.
constexpr int kModelVersion = 45;

/// `name` stands in front of errors. InputError with the line for another version, for what is malformed, cut
/// off, or out of range.
PerformanceModel read_performance_model(std::string_view text, const std::string& name);
std::string performance_model_to_text(const PerformanceModel& model);

}  // namespace espalier::sampling
