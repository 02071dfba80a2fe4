#include "experiments/cli/interrupt.hpp"

#include <csignal>

namespace espalier {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<int> first_signal{SIGINT};

void on_signal(int signal) {
  if (!interrupted.load()) first_signal.store(signal);
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
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)  // nohup goes on
    sigaction(SIGHUP, &action, nullptr);
}

int interrupt_exit_code() {
  return 128 + first_signal.load();
}

}  // namespace espalier
