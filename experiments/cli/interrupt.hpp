#pragma once

#include <atomic>

namespace espalier {

/// Set by the first Ctrl-C (SIGINT) or SIGTERM after catch_interrupts(); the second one ends the process as
/// usual.
const std::atomic<bool>& interrupt_flag();
void catch_interrupts();

}  // namespace espalier
