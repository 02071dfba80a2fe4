#include "experiments/cli/interrupt.hpp"

#include <csignal>

namespace espalier {
namespace {

std::atomic<bool> interrupted{false};

void on_signal(int signal) {
  interrupted.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& interrupt_flag() {
  return interrupted;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace espalier
