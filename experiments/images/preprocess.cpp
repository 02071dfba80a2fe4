#include "experiments/images/preprocess.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "experiments/images/resample.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

// torchvision's normalisation of ImageNet models, and that of Pl@ntNet-300K's published training code
constexpr Preprocessing kImagenet{0, 0, 1.0 / 255, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}, false};
constexpr Preprocessing kPlantnet{256,  224, 1.0 / 255, {0.4425, 0.4695, 0.3266}, {0.2353, 0.2219, 0.2325},
                                  false};

constexpr const char* kKeys = "resize, crop, scale, mean, std, channels";

template <class T>
T value_of(const YAML::Node& node, const std::string& path, const std::string& key, const char* needed) {
  try {
    return node.as<T>();
  } catch (const YAML::Exception&) {
    throw InputError(fmt::format("{}:{}: {} must be {}", path, node.Mark().line + 1, key, needed));
  }
}

std::array<double, 3> triple(const YAML::Node& node, const std::string& path, const std::string& key) {
  const auto values = value_of<std::vector<double>>(node, path, key, "a list of three numbers");
  if (values.size() != 3)
    throw InputError(fmt::format("{}:{}: {} must have three numbers, it has {}", path, node.Mark().line + 1,
                                 key, values.size()));
  for (const double v : values)
    if (!std::isfinite(v))
      throw InputError(fmt::format("{}:{}: {} must be finite", path, node.Mark().line + 1, key));
  return {values[0], values[1], values[2]};
}

int side(const YAML::Node& node, const std::string& path, const std::string& key) {
  constexpr int kLargest = 16384;
  const int v = value_of<int>(node, path, key, "a whole number of pixels");
  if (v < 1 || v > kLargest)
    throw InputError(fmt::format("{}:{}: {} must be 1 to {} pixels, it is {}", path, node.Mark().line + 1,
                                 key, kLargest, v));
  return v;
}

Preprocessing parse(const YAML::Node& root, const std::string& path) {
  if (!root.IsMap()) throw InputError(fmt::format("{}: a map with the keys {} is needed", path, kKeys));
  Preprocessing p;
  for (const auto& entry : root) {
    const std::string key = value_of<std::string>(entry.first, path, "a key", "a word");
    const YAML::Node& node = entry.second;
    if (key == "resize")
      p.resize = side(node, path, key);
    else if (key == "crop")
      p.crop = side(node, path, key);
    else if (key == "scale")
      p.scale = value_of<double>(node, path, key, "a number");
    else if (key == "mean")
      p.mean = triple(node, path, key);
    else if (key == "std")
      p.std = triple(node, path, key);
    else if (key == "channels") {
      const auto order = value_of<std::string>(node, path, key, "rgb or bgr");
      if (order != "rgb" && order != "bgr")
        throw InputError(
            fmt::format("{}:{}: channels must be rgb or bgr, it is {}", path, node.Mark().line + 1, order));
      p.bgr = order == "bgr";
    } else
      throw InputError(
          fmt::format("{}:{}: unknown key {}; known are {}", path, entry.first.Mark().line + 1, key, kKeys));
  }
  if (!std::isfinite(p.scale)) throw InputError(fmt::format("{}: scale must be finite", path));
  for (const double s : p.std)
    if (s == 0) throw InputError(fmt::format("{}: std must not be 0", path));
  return p;
}

}  // namespace

Preprocessing preprocessing_named(const std::string& name_or_path) {
  if (name_or_path == "imagenet") return kImagenet;
  if (name_or_path == "plantnet300k") return kPlantnet;
  if (name_or_path.find('.') == std::string::npos && !std::filesystem::exists(name_or_path))
    throw InputError(fmt::format(
        "preprocessing {} is not known; known are imagenet, plantnet300k and YAML files", name_or_path));
  const std::string text = read_file(name_or_path, 1 << 20);
  YAML::Node root;
  try {
    root = YAML::Load(text);
  } catch (const YAML::Exception& e) {
    throw InputError(fmt::format("{}:{}: not YAML: {}", name_or_path, e.mark.line + 1, e.msg));
  }
  return parse(root, name_or_path);
}

Preprocessing resolve(Preprocessing p, std::int64_t height, std::int64_t width) {
  if (p.crop == 0) {
    if (height != width)
      throw InputError(
          fmt::format("the network's input is {} x {} pixels; only squares are served", height, width));
    p.crop = static_cast<int>(height);
  }
  if (p.crop != height || p.crop != width)
    throw InputError(fmt::format("preprocessing crops to {0} x {0} pixels, the network's input is {1} x {2}",
                                 p.crop, height, width));
  if (p.resize == 0) p.resize = static_cast<int>(std::lround(p.crop / 0.875));
  if (p.resize < p.crop)
    throw InputError(
        fmt::format("preprocessing resizes to {} pixels, less than the crop of {}", p.resize, p.crop));
  return p;
}

void preprocess(const Image& image, const Preprocessing& p, float* out) {
  // a strip of which the shorter side is one pixel would grow without bound; torchvision would do the same
  // and run out of memory
  constexpr std::int64_t kLongest = 1 << 16;
  const std::int64_t low = std::min(image.width, image.height), high = std::max(image.width, image.height);
  if (p.resize * high / low > kLongest)
    throw InputError(
        fmt::format("{} x {} pixels: too narrow to be resized to {}", image.width, image.height, p.resize));
  const Size size = size_with_shorter_side(image, p.resize);
  const auto offset = [&](int extent) { return static_cast<int>(std::nearbyint((extent - p.crop) / 2.0)); };
  const Image resized = resample(image, size, {offset(size.width), offset(size.height), p.crop, p.crop});
  std::array<float, 3 * 256> table;
  for (int c = 0; c < 3; ++c)
    for (int v = 0; v < 256; ++v)
      table[c * 256 + v] = static_cast<float>((v * p.scale - p.mean[c]) / p.std[c]);
  const int swap = p.bgr ? 2 : 0;
  for (int y = 0; y < p.crop; ++y) {
    const std::uint8_t* row = resized.rgb.data() + static_cast<std::size_t>(y) * p.crop * 3;
    for (int i = 0; i < p.crop; ++i)
      for (int c = 0; c < 3; ++c) *out++ = table[c * 256 + row[i * 3 + (c ^ (c == 1 ? 0 : swap))]];
  }
}

}  // namespace espalier
