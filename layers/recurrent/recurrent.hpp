#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// LSTM, GRU and RNN as ONNX defines them; see README.md.
std::span<const Layer> recurrent_layers();

}  // namespace espalier
