#include "tests/support/run_command.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace espalier::test {
namespace {

/// Reads what is there; false at the end of the stream.
bool read_some(int descriptor, std::string& into) {
  char buffer[4096];
  const ssize_t n = ::read(descriptor, buffer, sizeof buffer);
  if (n > 0) into.append(buffer, static_cast<std::size_t>(n));
  return n > 0;
}

}  // namespace

CommandResult run_espalier(const std::vector<std::string>& arguments, std::size_t interrupt_after_bytes) {
  const char* command = std::getenv("ESPALIER_COMMAND");
  if (command == nullptr) ADD_FAILURE() << "ESPALIER_COMMAND is not set";
  std::vector<char*> argv{const_cast<char*>(command)};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int out[2], err[2];
  if (::pipe(out) != 0 || ::pipe(err) != 0) ADD_FAILURE() << "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int d : {out[0], out[1], err[0], err[1]}) ::close(d);
    ::execv(command, argv.data());
    ::_exit(126);
  }
  ::close(out[1]);
  ::close(err[1]);
  CommandResult result;
  pollfd streams[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  bool interrupted = interrupt_after_bytes == 0;
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (::poll(streams, 2, -1) < 0) break;
    if (streams[0].revents != 0 && !read_some(out[0], result.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !read_some(err[0], result.err)) streams[1].fd = -1;
    if (!interrupted && result.out.size() >= interrupt_after_bytes) {
      ::kill(child, SIGINT);
      interrupted = true;
    }
  }
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string fresh_folder(const std::string& name) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / (name + "." + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

}  // namespace espalier::test
