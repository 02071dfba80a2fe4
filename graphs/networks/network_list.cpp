#include "graphs/networks/network_list.hpp"

#include <array>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

constexpr std::array<double, 3> kImageNetMean{0.485, 0.456, 0.406};
constexpr std::array<double, 3> kImageNetDeviation{0.229, 0.224, 0.225};
constexpr std::array<double, 3> kHalf{0.5, 0.5, 0.5};

constexpr std::array kNetworks{
    NetworkEntry{"alexnet", "5 convolutions, 3 dense layers", "Krizhevsky 2014, arXiv:1404.5997", 224,
                 build_alexnet},
    NetworkEntry{"vgg16", "13 convolutions of 3x3, 3 dense layers",
                 "Simonyan and Zisserman 2014, arXiv:1409.1556", 224, build_vgg16},
    NetworkEntry{"resnet18", "residual blocks of 2 convolutions", "He et al. 2016, arXiv:1512.03385", 224,
                 build_resnet18},
    NetworkEntry{"resnet34", "residual blocks of 2 convolutions", "He et al. 2016, arXiv:1512.03385", 224,
                 build_resnet34},
    NetworkEntry{"resnet50", "residual bottlenecks", "He et al. 2016, arXiv:1512.03385", 224, build_resnet50},
    NetworkEntry{"resnet101", "residual bottlenecks", "He et al. 2016, arXiv:1512.03385", 224,
                 build_resnet101},
    NetworkEntry{"resnet152", "residual bottlenecks", "He et al. 2016, arXiv:1512.03385", 224,
                 build_resnet152},
    NetworkEntry{"googlenet", "inception modules of 4 branches", "Szegedy et al. 2015, arXiv:1409.4842", 224,
                 build_googlenet, kHalf, kHalf},
    NetworkEntry{"inception_v3", "factorised inception modules", "Szegedy et al. 2016, arXiv:1512.00567", 299,
                 build_inception_v3, kHalf, kHalf, 342},
    NetworkEntry{"mobilenet_v2", "inverted residuals, depthwise convolutions",
                 "Sandler et al. 2018, arXiv:1801.04381", 224, build_mobilenet_v2},
    NetworkEntry{"efficientnet_b0", "inverted residuals with squeeze and excitation",
                 "Tan and Le 2019, arXiv:1905.11946", 224, build_efficientnet_b0},
    NetworkEntry{"efficientnet_lite0", "EfficientNet for mobile devices: ReLU6, no excitation",
                 "Tan and Le 2019, arXiv:1905.11946", 224, build_efficientnet_lite0, kImageNetMean,
                 kImageNetDeviation, 256, "_conv_stem.weight", "tf_efficientnet_lite0"},
    NetworkEntry{"tf_efficientnet_lite0", "efficientnet_lite0 with TensorFlow's padding and epsilon",
                 "Tan and Le 2019, arXiv:1905.11946", 224, build_tf_efficientnet_lite0, kHalf, kHalf},
    NetworkEntry{"densenet121", "dense blocks: each layer reads all before it",
                 "Huang et al. 2017, arXiv:1608.06993", 224, build_densenet121},
    NetworkEntry{"squeezenet1_0", "fire modules of 1x1 and 3x3 convolutions",
                 "Iandola et al. 2016, arXiv:1602.07360", 224, build_squeezenet1_0},
    NetworkEntry{"lstm",
                 "language model: 2 LSTM layers of 650 units over 35 words",
                 "Zaremba et al. 2014, arXiv:1409.2329",
                 0,
                 build_lstm,
                 {},
                 {},
                 0},
};

}  // namespace

std::span<const NetworkEntry> all_networks() {
  return kNetworks;
}

const NetworkEntry& network_named(std::string_view name) {
  std::string known;
  for (const NetworkEntry& entry : kNetworks) {
    if (entry.name == name) return entry;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
  }
  throw InputError(fmt::format("network {} is not known; known are {}", name, known));
}

}  // namespace espalier
