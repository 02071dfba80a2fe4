#include "experiments/cli/command_list.hpp"

namespace espalier {

void add_commands(CLI::App& app, int& exit_code) {
  static_cast<void>(app);
  static_cast<void>(exit_code);
}

}  // namespace espalier
