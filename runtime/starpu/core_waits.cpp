#include "runtime/starpu/core_waits.hpp"

#include <cstdio>
#include <dirent.h>
#include <string>

namespace espalier::starpu {
namespace {

/// The second of the three numbers: nanoseconds on a run queue.
double waited(const std::string& file) {
  std::FILE* f = std::fopen(file.c_str(), "re");
  if (f == nullptr) return 0;  // the thread has ended
  unsigned long long ran = 0, waiting = 0;
  const int read = std::fscanf(f, "%llu %llu", &ran, &waiting);
  std::fclose(f);
  return read == 2 ? static_cast<double>(waiting) * 1e-9 : 0;
}

}  // namespace

double seconds_waited_for_cores() {
  const std::string folder = "/proc/self/task/";
  DIR* threads = ::opendir(folder.c_str());
  if (threads == nullptr) return 0;
  double sum = 0;
  while (const dirent* entry = ::readdir(threads))
    if (entry->d_name[0] != '.') sum += waited(folder + entry->d_name + "/schedstat");
  ::closedir(threads);
  return sum;
}

}  // namespace espalier::starpu
