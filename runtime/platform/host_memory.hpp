#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

/// Page-aligned, zero-filled memory that asks for large pages. Pages are taken when first touched.
class HostMemory {
 public:
  HostMemory() = default;
  /// DeviceError when the system refuses.
  explicit HostMemory(std::int64_t bytes);
  ~HostMemory();
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Bytes that this process can still take: what the system has available, less where a control group limits
/// it further.
std::int64_t available_memory();
/// Most bytes that this process has held so far.
std::int64_t peak_memory();
/// InputError "WHAT needs 12.3 GB of memory, 8.1 GB are available" when `bytes` are more than that.
void require_memory(std::int64_t bytes, const std::string& what);
/// "12.3 GB".
std::string size_text(std::int64_t bytes);

}  // namespace espalier
