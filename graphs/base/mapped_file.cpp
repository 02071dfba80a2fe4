#include "graphs/base/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {

FileBytes map_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw InputError(fmt::format("{}: cannot be read: {}", path.string(), std::strerror(errno)));
  struct stat status {};
  void* memory = MAP_FAILED;
  std::size_t size = 0;
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size = static_cast<std::size_t>(status.st_size);
    memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  if (memory != MAP_FAILED) {
    std::shared_ptr<const void> owner(memory,
                                      [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
    return {std::string_view(static_cast<const char*>(memory), size), std::move(owner)};
  }
  auto content = std::make_shared<const std::string>(read_file(path));
  return {std::string_view(*content), content};
}

}  // namespace espalier
