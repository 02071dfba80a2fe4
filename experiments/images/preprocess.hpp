#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "experiments/images/image.hpp"

namespace espalier {

/// From a photograph to a network's input, as torchvision's Resize, CenterCrop, ToTensor and Normalize do:
/// value = (pixel * scale - mean[c]) / std[c].
struct Preprocessing {
  int resize = 0;  ///< length of the shorter side; 0: crop / 0.875
  int crop = 0;    ///< side of the centre square; 0: what the network's input says
  double scale = 1.0 / 255;
  std::array<double, 3> mean{};
  std::array<double, 3> std{1, 1, 1};
  bool bgr = false;  ///< channels in the order blue, green, red
};

/// "imagenet", "plantnet300k" or the path of a YAML file (format: experiments/images/README.md). InputError
/// names the file, the line and the key.
Preprocessing preprocessing_named(const std::string& name_or_path);

/// resize and crop filled in for an input of H x W. InputError when the crop asked for differs from the
/// input.
Preprocessing resolve(Preprocessing p, std::int64_t height, std::int64_t width);

/// Writes crop x crop x 3 floats, channels last. `p` is resolved.
void preprocess(const Image& image, const Preprocessing& p, float* out);

}  // namespace espalier
