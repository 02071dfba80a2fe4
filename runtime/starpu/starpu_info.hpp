#pragma once

#include <string>

namespace espalier::starpu {

/// What the StarPU library that this program is linked with can serve; fixed when the library was compiled.
struct StarpuInfo {
  std::string version;   ///< "1.3.10"
  int max_cpus;          ///< CPU workers
  int max_cuda_devices;  ///< 0 without CUDA
  int max_workers;
  int max_memory_nodes;
  int max_buffers;  ///< of one task without dynamic handles
  bool simgrid;
  bool cuda;
  bool opencl;
  bool mpi;  ///< StarPU-MPI was built with it
};
StarpuInfo starpu_info();

}  // namespace espalier::starpu
