#include "graphs/base/file_io.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// Closes the descriptor at the end of the scope.
struct Descriptor {
  int value = -1;
  explicit Descriptor(int v) : value(v) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

std::string read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value < 0)
    throw InputError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.value, &status) != 0 || S_ISDIR(status.st_mode))
    throw InputError(fmt::format("{}: is a folder, a file is needed", path.string()));
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(file.value) == 0))
    throw InputError(fmt::format("{}: is a device, a file is needed", path.string()));
  std::string content;
  if (S_ISREG(status.st_mode)) {
    if (static_cast<std::size_t>(status.st_size) > max_bytes)
      throw InputError(
          fmt::format("{}: {} bytes, at most {} are accepted", path.string(), status.st_size, max_bytes));
    content.reserve(static_cast<std::size_t>(status.st_size));
  }
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.value, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw InputError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
    if (n == 0) return content;
    if (content.size() + static_cast<std::size_t>(n) > max_bytes)
      throw InputError(
          fmt::format("{}: more than {} bytes, which is the most accepted", path.string(), max_bytes));
    content.append(buffer, static_cast<std::size_t>(n));
  }
}

std::filesystem::path rename_target(const std::filesystem::path& path) {
  std::error_code code;
  const auto type = std::filesystem::status(path, code).type();
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found &&
      type != std::filesystem::file_type::none && type != std::filesystem::file_type::directory)
    return {};
  if (!std::filesystem::is_symlink(path, code)) return path;
  const std::filesystem::path target = std::filesystem::canonical(path, code);
  return code ? path : target;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  if (std::error_code code; std::filesystem::is_directory(path, code))
    throw InputError(fmt::format("{}: is a folder, a file's name is needed", path.string()));
  const std::filesystem::path target = rename_target(path);
  std::string temporary = target.string() + ".XXXXXX";
  Descriptor file(target.empty() ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC)
                                 : ::mkostemp(temporary.data(), O_CLOEXEC));
  if (file.value < 0)
    throw InputError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  const auto fail = [&](const char* what) {
    const int code = errno;
    if (!target.empty()) ::unlink(temporary.c_str());
    throw DeviceError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(code)));
  };
  while (!content.empty()) {
    const ssize_t n = ::write(file.value, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot be written");
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  if (target.empty()) return;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(file.value, 0666 & ~mask) != 0) fail("cannot set the permissions");
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("cannot be renamed into place");
}

}  // namespace espalier
