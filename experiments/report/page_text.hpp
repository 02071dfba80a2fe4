#pragma once

#include <string_view>

namespace espalier {

/// The files of page/, compiled into the library. Defined in a source file that the build makes of them.
struct PageText {
  std::string_view html, css, js;
};
PageText page_text();

}  // namespace espalier
