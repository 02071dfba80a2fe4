#pragma once

#include <string>
#include <vector>

namespace espalier::test {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out, err;
};

/// Runs the espalier command with these arguments and collects what it prints. `interrupt_after_bytes` > 0:
/// sends SIGINT once that much has come out of standard output.
CommandResult run_espalier(const std::vector<std::string>& arguments, std::size_t interrupt_after_bytes = 0);

/// A fresh empty folder below the test's temporary folder.
std::string fresh_folder(const std::string& name);

}  // namespace espalier::test
