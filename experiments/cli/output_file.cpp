#include "experiments/cli/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

/// A new file beside `path`, with the permissions that a new file gets; its name goes into `temporary`.
std::FILE* make_temporary(const std::string& path, std::string& temporary) {
  temporary = path + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return nullptr;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
  return ::fdopen(file, "w");
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path), file_(stdout) {
  if (path_.empty()) return;
  if (std::error_code code; std::filesystem::is_directory(path_, code))
    throw InputError(fmt::format("{}: is a folder, a file's name is needed", path_));
  const std::filesystem::path target = rename_target(path_);
  if (!target.empty()) path_ = target.string();
  file_ = target.empty() ? std::fopen(path_.c_str(), "we") : make_temporary(path_, temporary_);
  if (file_ == nullptr)
    throw InputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

OutputFile::~OutputFile() {
  if (path_.empty() || file_ == nullptr) return;
  std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void OutputFile::finish() {
  flush_or_fail(file_, path_.empty() ? "standard output" : path_);
  if (path_.empty()) return;
  const bool closed = std::fclose(file_) == 0;
  file_ = nullptr;
  if (closed && (temporary_.empty() || std::rename(temporary_.c_str(), path_.c_str()) == 0)) return;
  const int code = errno;
  if (!temporary_.empty()) std::remove(temporary_.c_str());
  throw DeviceError(fmt::format("{}: cannot be written: {}", path_, std::strerror(code)));
}

void flush_or_fail(std::FILE* file, const std::string& what) {
  errno = 0;
  if (std::fflush(file) == 0 && std::ferror(file) == 0) return;
  throw DeviceError(fmt::format("{}: cannot be written{}{}", what, errno != 0 ? ": " : "",
                                errno != 0 ? std::strerror(errno) : ""));
}

}  // namespace espalier
