#pragma once

#include <cstddef>
#include <memory>

namespace espalier {

/// Memory that the returned pointer owns, aligned to 64 bytes; from 2 MB on to 2 MB, with huge pages asked
/// for: packed weights are streamed, and small pages cost a third of the rate. DeviceError when there is
/// none.
std::shared_ptr<void> aligned_memory(std::size_t bytes);

}  // namespace espalier
