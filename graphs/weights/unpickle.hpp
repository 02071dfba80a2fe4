#pragma once

#include <cstddef>
#include <string_view>

#include "graphs/weights/pickle_value.hpp"

namespace espalier::pickle {

/// Most values, stack entries and remembered values in one pickle.
constexpr std::size_t kMaxValues = 2'000'000;

/// Reads one pickle (protocols 0 to 5) that begins at `position`, and leaves `position` behind it. A stack
/// machine without recursion that builds plain data: nothing is imported or called. A name outside the table
/// of pickle_globals.cpp is an InputError ("refuses to build os.system"), as are truncated, malformed and
/// oversized pickles. Time and memory are linear in the bytes read.
/// Source: Python's Lib/pickletools.py documents the operations.
Pickle unpickle(std::string_view bytes, std::size_t& position);

}  // namespace espalier::pickle
