#pragma once

#include "graphs/networks/network_list.hpp"

/// The builders, one network family a file.
namespace espalier {

Graph build_alexnet(ParameterSource& parameters);
Graph build_vgg16(ParameterSource& parameters);
Graph build_resnet18(ParameterSource& parameters);
Graph build_resnet34(ParameterSource& parameters);
Graph build_resnet50(ParameterSource& parameters);
Graph build_resnet101(ParameterSource& parameters);
Graph build_resnet152(ParameterSource& parameters);
Graph build_googlenet(ParameterSource& parameters);
Graph build_inception_v3(ParameterSource& parameters);
Graph build_mobilenet_v2(ParameterSource& parameters);
Graph build_efficientnet_b0(ParameterSource& parameters);
Graph build_efficientnet_lite0(ParameterSource& parameters);
Graph build_tf_efficientnet_lite0(ParameterSource& parameters);
Graph build_densenet121(ParameterSource& parameters);
Graph build_squeezenet1_0(ParameterSource& parameters);
Graph build_lstm(ParameterSource& parameters);

}  // namespace espalier
