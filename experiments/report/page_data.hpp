#pragma once

#include <string>

#include "experiments/compare/comparison.hpp"

namespace espalier {

/// The comparison as the page's scripts read it: JSON in which long arrays are little-endian binary in base64
/// and no "<" stands, so that no name can end the script element.
std::string page_data(const Comparison& comparison);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace espalier
