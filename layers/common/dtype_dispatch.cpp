#include "layers/common/dtype_dispatch.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace espalier {

void require_dtype(DType got, std::span<const DType> accepted, std::string_view what) {
  if (std::find(accepted.begin(), accepted.end(), got) != accepted.end()) return;
  std::string names;
  for (DType t : accepted) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(t));
  throw InputError(fmt::format("{} is {}; accepted: {}", what, name_of(got), names));
}

}  // namespace espalier
