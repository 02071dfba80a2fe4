#include "runtime/starpu/starpu_info.hpp"

#include <fmt/format.h>
#include <starpu.h>

namespace espalier::starpu {

StarpuInfo starpu_info() {
  int major = 0, minor = 0, release = 0;
  starpu_get_version(&major, &minor, &release);
  StarpuInfo info{fmt::format("{}.{}.{}", major, minor, release),
                  STARPU_MAXCPUS,
                  0,
                  STARPU_NMAXWORKERS,
                  STARPU_MAXNODES,
                  STARPU_NMAXBUFS,
                  false,
                  false,
                  false,
                  false};
#ifdef STARPU_SIMGRID
  info.simgrid = true;
#endif
#if defined(STARPU_USE_CUDA) || defined(STARPU_SIMGRID)
  info.max_cuda_devices = STARPU_MAXCUDADEVS;
#endif
#ifdef STARPU_USE_CUDA
  info.cuda = true;
#endif
#ifdef STARPU_USE_OPENCL
  info.opencl = true;
#endif
#ifdef STARPU_USE_MPI
  info.mpi = true;
#endif
  return info;
}

}  // namespace espalier::starpu
