#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/perfmodel/fitted/kernel_kind.hpp"

namespace espalier::fitted {

/// Times of one kernel on several devices. log_seconds(p, d) is problem p on device d, NaN where not
/// measured.
struct KernelTimes {
  KernelKind kind = KernelKind::gemm;
  std::vector<Problem> problems;     ///< distinct, in ascending order
  std::vector<std::string> devices;  ///< "NV_V100/fp32", in ascending order
  std::vector<double> log_seconds;   ///< problems x devices

  double at(std::size_t problem, std::size_t device) const {
    return log_seconds[problem * devices.size() + device];
  }
  /// The rows of some problems, all devices.
  KernelTimes subset(const std::vector<std::size_t>& which) const;
};

/// One all-reduce: bytes of the buffer of each device, seconds.
struct AllReduceTime {
  double bytes = 0, seconds = 0;
};
struct AllReduceTimes {
  std::string system;  ///< "v100_8gpu", the file's name
  int devices = 0;     ///< from "_8gpu" in the name
  std::vector<AllReduceTime> times;
};

/// What a set of measurement files holds, by kernel in the order of kAllKernels.
struct Measurements {
  std::vector<KernelTimes> kernels;
  std::vector<AllReduceTimes> all_reduces;
};

/// Collects CSV files and makes tables of them. A file says by its header what it is: columns
/// device,precision and the parameters of convolution / matrix product / recurrent layers with times in
/// milliseconds (benchmark DeepBench), or size,count,type,time (NCCL's all_reduce_perf; nanoseconds). Order
/// of the columns is free, further columns are ignored. An empty time is not measured. Rows that are measured
/// twice are averaged geometrically. InputError "name:line: ..." for anything else; 10^6 rows at most.
class MeasurementReader {
 public:
  void add(std::string_view csv, const std::string& name);
  /// InputError when nothing was added.
  Measurements finish() const;

 private:
  struct Row {
    std::string device;
    Problem problem;
    double log_seconds;
  };
  struct Header;
  void add_kernel_rows(const Header& header, std::string_view line, const std::string& name, std::size_t at);
  void add_all_reduce(std::string_view csv, const std::string& name);
  std::vector<Row> rows_[kAllKernels.size()];
  std::vector<AllReduceTimes> all_reduces_;
};

/// Reads files and collects them.
Measurements read_measurements(const std::vector<std::string>& files);

}  // namespace espalier::fitted
