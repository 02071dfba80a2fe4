#include "layers/common/aligned_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/mman.h>

#include "graphs/base/error.hpp"

namespace espalier {

std::shared_ptr<void> aligned_memory(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  const std::size_t align = bytes >= kHuge ? kHuge : 64;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + align - 1) / align * align;
  void* p = std::aligned_alloc(align, size);
  if (p == nullptr) throw DeviceError(fmt::format("out of memory: {} bytes for packed weights", bytes));
  if (align == kHuge) ::madvise(p, size, MADV_HUGEPAGE);  // a wish; small pages serve as well
  return {p, std::free};
}

}  // namespace espalier
