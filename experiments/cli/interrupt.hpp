#pragma once

#include <atomic>

namespace espalier {

/// Set by the first Ctrl-C (SIGINT), SIGTERM or SIGHUP after catch_interrupts(); the second one ends the
/// process as usual.
const std::atomic<bool>& interrupt_flag();
void catch_interrupts();
/// What the command ends with when the flag is set, as shells have it: 128 + the signal's number, 130 for
/// Ctrl-C and 143 for SIGTERM.
int interrupt_exit_code();

}  // namespace espalier
