#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

/// A part of a value's memory that one node writes as a whole.
struct StoragePart {
  std::int64_t begin = 0, end = 0;    ///< bytes of the value
  std::int32_t producer = -1;         ///< segment; -1: an input or a constant
  std::vector<std::int32_t> readers;  ///< segments; ascending and unique when all are known
  std::int64_t scratch_offset = 0;    ///< where the value is scratch
};

/// Where a value that is no alias and no view lives.
struct Storage {
  enum class Kind : std::uint8_t { constant, input, output, shared, scratch };
  Kind kind = Kind::constant;
  std::uint32_t first_piece = 0;   ///< input, output, shared: the piece of parts[0], the others follow
  std::uint32_t output = 0;        ///< number of the output
  bool read_across = false;        ///< some read spans several parts
  std::vector<StoragePart> parts;  ///< by offset, disjoint
};

}  // namespace espalier
