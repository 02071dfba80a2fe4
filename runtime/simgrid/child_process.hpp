#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace espalier::simgrid {

struct ChildResult {
  int exit_code = 0;  ///< when it ended by itself
  int signal = 0;     ///< that ended it, 0: none
  bool timed_out = false;
  bool stopped = false;
};

/// Runs a program to its end, its output and errors going to files below. After `timeout` seconds it is
/// killed with all that it started, also soon after `stop`, when there is one, has turned true: it is asked
/// before the start, then several times a second and after every signal. Its environment is ours without the
/// variables that begin with one of `without`, and with `with`. DeviceError when no process can be started.
ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& with, const std::vector<std::string>& without,
                      const std::filesystem::path& output, double timeout,
                      const std::function<bool()>& stop = {});

/// A new folder below the temporary one, removed with all that is in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace espalier::simgrid
