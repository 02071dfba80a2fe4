#include <cstdlib>
#include <unistd.h>

/// Sets what tests look up in the environment before main, unless the caller has set it: test programs then
/// run alike from ctest and by hand.
namespace {

const bool kPrepared = [] {
  ::setenv("ESPALIER_SHARED", ESPALIER_TEST_SHARED, 0);
  ::setenv("ESPALIER_SOURCE", ESPALIER_TEST_SOURCE, 0);
  ::setenv("ESPALIER_COMMAND", ESPALIER_TEST_COMMAND, 0);
  ::setenv("ESPALIER_SIMGRID", ESPALIER_TEST_COMMAND "-simgrid", 0);
  if (::access(std::getenv("ESPALIER_SIMGRID"), X_OK) != 0)
    ::unsetenv("ESPALIER_SIMGRID");  // left out of this build
  ::setenv("STARPU_SILENT", "1", 0);
  ::setenv("OMP_NUM_THREADS", "1", 0);
  return true;
}();

}  // namespace
