#pragma once

#include <CLI/CLI.hpp>

namespace espalier {

/// Exit codes of the command.
enum ExitCode : int { kDone = 0, kOurFault = 1, kWrongInput = 2, kDoneInPart = 3 };

/// Adds every sub-command to the application. A sub-command lives in command_NAME.cpp, declares
/// `void add_NAME_command(CLI::App& app, int& exit_code)` and has one line in command_list.cpp. Its callback
/// runs when it is chosen; it may set exit_code (kDoneInPart, interrupt_exit_code()) and otherwise throws.
void add_commands(CLI::App& app, int& exit_code);

}  // namespace espalier
