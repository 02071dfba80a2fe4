#include "runtime/simgrid/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "graphs/base/error.hpp"

extern char** environ;

namespace espalier::simgrid {
namespace {

std::vector<std::string> make_environment(const std::map<std::string, std::string>& with,
                                          const std::vector<std::string>& without) {
  std::vector<std::string> out;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    const std::string name(entry.substr(0, entry.find('=')));
    bool drop = with.contains(name);
    for (const std::string& prefix : without) drop = drop || name.starts_with(prefix);
    if (!drop) out.emplace_back(entry);
  }
  for (const auto& [name, value] : with) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

/// Between fork and exec: only what a signal handler may do.
[[noreturn]] void become(const char* program, char** arguments, char** environment, int output,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else would end it
  if (::getppid() != parent) ::_exit(127);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execve(program, arguments, environment);
  ::_exit(127);
}

/// Waits for the child's end; false after `timeout` or when `stopped`.
bool wait_for(pid_t child, double timeout, const std::function<bool()>& stopped, int& status) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(timeout);
  const auto ended = [&] {
    pid_t got;
    do got = ::waitpid(child, &status, WNOHANG);
    while (got < 0 && errno == EINTR);
    return got == child;
  };
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  bool done = ended();
  while (!done && Clock::now() < end && !stopped()) {
    if (fd >= 0) {
      pollfd p{fd, POLLIN, 0};
      ::poll(&p, 1, 200);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    done = ended();
  }
  if (fd >= 0) ::close(fd);
  return done;
}

}  // namespace

ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const std::map<std::string, std::string>& with, const std::vector<std::string>& without,
                      const std::filesystem::path& output, double timeout,
                      const std::function<bool()>& stop) {
  const auto stopped = [&] { return stop && stop(); };
  ChildResult result;
  result.stopped = stopped();
  if (result.stopped) return result;
  std::vector<std::string> argument_texts{program.string()},
      environment_texts = make_environment(with, without);
  argument_texts.insert(argument_texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argument_pointers = pointers(argument_texts), environment = pointers(environment_texts);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) throw DeviceError(fmt::format("{}: {}", output.string(), std::strerror(errno)));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0)
    become(argument_texts[0].c_str(), argument_pointers.data(), environment.data(), out, parent);
  const int error = errno;
  ::close(out);
  if (child < 0)
    throw DeviceError(fmt::format("{} cannot be started: {}", program.string(), std::strerror(error)));
  int status = 0;
  if (!wait_for(child, timeout, stopped, status)) {
    result.stopped = stopped();
    result.timed_out = !result.stopped;
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "espalier-simgrid-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw DeviceError(fmt::format("{}: no folder can be made: {}", pattern, std::strerror(errno)));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace espalier::simgrid
