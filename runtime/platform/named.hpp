#pragma once

#include <span>
#include <string_view>

namespace espalier {

/// A YAML text of runtime/platform/named/, compiled into the library.
struct NamedPlatform {
  std::string_view name;
  std::string_view yaml;
};
/// All of them, by name. Defined in a source file that the build makes from the folder.
std::span<const NamedPlatform> named_platforms();

}  // namespace espalier
