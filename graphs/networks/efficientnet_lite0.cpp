#include <fmt/format.h>

#include "graphs/networks/efficientnet_stages.hpp"
#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

/// EfficientNet-Lite0: B0 without squeeze and excitation, with ReLU6 and a stem and head of fixed width (the
/// README of TensorFlow's tpu/models/official/efficientnet/lite). Two conventions are in use, and two naming
/// schemes: timm's, and that of efficientnet-pytorch ("_conv_stem.weight"), whose files are all of
/// TensorFlow's convention.
namespace espalier {
namespace {

/// PyTorch's: symmetric padding, epsilon 1e-5. TensorFlow's: SAME padding, epsilon 1e-3.
struct Convention {
  bool same;
  double epsilon;
};

/// Names of a block's convolutions and norms; the first pair is absent in blocks that do not expand.
struct BlockNames {
  std::string expand, expand_norm, depthwise, depthwise_norm, project, project_norm;
};

BlockNames names_of_block(bool underscores, std::size_t stage, std::int64_t i, int index, bool expands) {
  if (underscores) {
    const std::string p = fmt::format("_blocks.{}.", index);
    return {p + "_expand_conv", p + "_bn0",          p + "_depthwise_conv",
            p + "_bn1",         p + "_project_conv", p + "_bn2"};
  }
  const std::string p = fmt::format("blocks.{}.{}.", stage, i);
  if (!expands) return {"", "", p + "conv_dw", p + "bn1", p + "conv_pw", p + "bn2"};
  return {p + "conv_pw", p + "bn1", p + "conv_dw", p + "bn2", p + "conv_pwl", p + "bn3"};
}

class EfficientNetLite {
 public:
  EfficientNetLite(const char* name, ParameterSource& parameters, Convention convention)
      : b_(name, parameters), convention_(convention), underscores_(parameters.has("_conv_stem.weight")) {
    if (underscores_) convention_ = {true, 1e-3};
  }

  Graph build() {
    ValueId x = b_.image(224);
    x = unit(x, name("conv_stem", "_conv_stem"), name("bn1", "_bn0"), conv(32, 3, 2, 1));
    int index = 0;
    for (std::size_t stage = 0; stage < kEfficientNetB0.size(); ++stage)
      for (std::int64_t i = 0; i < kEfficientNetB0[stage].repeats; ++i) {
        const EfficientNetStage& s = kEfficientNetB0[stage];
        x = block(x, names_of_block(underscores_, stage, i, index++, s.expand != 1), s,
                  i == 0 ? s.stride : 1);
      }
    x = unit(x, name("conv_head", "_conv_head"), name("bn2", "_bn1"), conv(1280, 1, 1, 1));
    x = b_.flatten_pooled(b_.global_average_pool(x));
    return b_.finish(b_.classifier(x, name("classifier", "_fc")));
  }

 private:
  std::string name(const char* timm, const char* underscores) const {
    return underscores_ ? underscores : timm;
  }
  ConvSpec conv(std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t groups) const {
    return {.out = out,
            .kernel = kernel,
            .stride = stride,
            .pad = convention_.same ? 0 : kernel / 2,
            .groups = groups,
            .same = convention_.same && kernel > 1};
  }
  ValueId unit(ValueId x, const std::string& conv_name, const std::string& norm, const ConvSpec& spec) {
    return b_.relu6(b_.batch_norm(b_.conv(x, conv_name, spec), norm, convention_.epsilon));
  }
  ValueId block(ValueId x, const BlockNames& names, const EfficientNetStage& s, std::int64_t stride) {
    const std::int64_t in = b_.channels(x), hidden = in * s.expand;
    const bool residual = stride == 1 && in == s.out;
    ValueId y = x;
    if (s.expand != 1) y = unit(y, names.expand, names.expand_norm, conv(hidden, 1, 1, 1));
    y = unit(y, names.depthwise, names.depthwise_norm, conv(hidden, s.kernel, stride, hidden));
    y = b_.conv(y, names.project, conv(s.out, 1, 1, 1));
    y = b_.batch_norm(y, names.project_norm, convention_.epsilon, residual ? 0.5 : 1);
    return residual ? b_.add(y, x) : y;
  }

  NetworkBuilder b_;
  Convention convention_;
  bool underscores_;
};

}  // namespace

Graph build_efficientnet_lite0(ParameterSource& parameters) {
  return EfficientNetLite("efficientnet_lite0", parameters, {false, 1e-5}).build();
}

Graph build_tf_efficientnet_lite0(ParameterSource& parameters) {
  return EfficientNetLite("tf_efficientnet_lite0", parameters, {true, 1e-3}).build();
}

}  // namespace espalier
