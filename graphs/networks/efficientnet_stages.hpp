#pragma once

#include <array>
#include <cstdint>

namespace espalier {

/// Stages of EfficientNet-B0 (Tan and Le 2019, arXiv:1905.11946, table 1), shared by its variants.
struct EfficientNetStage {
  std::int64_t expand, kernel, stride, out, repeats;
};
inline constexpr std::array<EfficientNetStage, 7> kEfficientNetB0{{{1, 3, 1, 16, 1},
                                                                   {6, 3, 2, 24, 2},
                                                                   {6, 5, 2, 40, 2},
                                                                   {6, 3, 2, 80, 3},
                                                                   {6, 5, 1, 112, 3},
                                                                   {6, 5, 2, 192, 4},
                                                                   {6, 3, 1, 320, 1}}};

}  // namespace espalier
