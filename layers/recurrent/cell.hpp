#pragma once

#include <cstdint>

#include "layers/common/activations.hpp"

/// One time step of one sequence, separate from the loops over time and sequences, so that a scheduler may
/// cut a recurrent layer anywhere. The products with W and R are done before; see README.md.
namespace espalier {

struct CellActivation {
  std::string_view op;  ///< ONNX's name ("Tanh")
  ActivationParameters parameters;
  ActivationRow row = nullptr;
};

struct CellOptions {
  std::int64_t hidden = 0;
  float clip = 0;  ///< 0: none; else bounds of the gates before their activations
  bool input_forget = false;
  bool linear_before_reset = false;
  CellActivation f, g, h;
  bool standard = false;  ///< f Sigmoid, g (and h) Tanh, without clip: one fused loop
};

/// `gates` [i | o | f | c], H each, holds the sums of the products and biases and is overwritten; c and h
/// [H] are the states, replaced by the new ones; `peepholes` [i | o | f] or nullptr.
void lstm_cell(const CellOptions& cell, float* gates, const float* peepholes, float* c, float* h);

/// First half: z and r of `gates` [z | r] become their activations; `reset`, unless nullptr, becomes r h.
void gru_cell_gates(const CellOptions& cell, float* gates, const float* h, float* reset);
/// Second half: h = (1 - z) g(candidate) + z h. With linear_before_reset the candidate is first increased by
/// r times `recurrent` (h R^T + Rb of the h gate). `candidate` is overwritten.
void gru_cell_update(const CellOptions& cell, const float* gates, float* candidate, const float* recurrent,
                     float* h);

/// h = f(gate); `gate` is overwritten.
void rnn_cell(const CellOptions& cell, float* gate, float* h);

}  // namespace espalier
