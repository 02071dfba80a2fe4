#pragma once

#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "layers/recurrent/cell.hpp"

namespace espalier {

/// What a recurrent node asks for. T steps, B sequences, I inputs, H hidden units, D directions; G gates:
/// 4 (LSTM, in the order i o f c), 3 (GRU: z r h), 1 (RNN).
///
/// Inputs: X [T, B, I]; W [D, G H, I]; R [D, G H, H]; bias [D, 2 G H]; sequence_lens [B] int32; initial_h
/// [D, B, H]; of an LSTM also initial_c [D, B, H] and P [D, 3 H] (i o f). Outputs: Y [T, D, B, H], Y_h and,
/// of an LSTM, Y_c [D, B, H]. With layout 1: X [B, T, I], states [B, D, H], Y [B, T, D, H].
struct RecurrentProblem {
  enum class Kind { lstm, gru, rnn };
  enum Input : std::size_t { kX, kW, kR, kBias, kLengths, kInitialH, kInitialC, kPeepholes };

  /// InputError for attributes or shapes that do not fit, stating what is needed.
  explicit RecurrentProblem(const NodeView& view);

  Kind kind;
  std::int64_t steps, batch, inputs, hidden, directions, gates;
  bool batch_first;
  std::vector<bool> reverse;       ///< by direction
  std::vector<CellOptions> cells;  ///< by direction
  std::vector<bool> present;       ///< by input
  DType dtype;

  bool has(Input i) const { return i < present.size() && present[i]; }
  Shape y_shape() const;
  Shape state_shape() const;
  /// Offset in elements of row (t, d, b) of Y, of row (t, b) of X and of row (d, b) of a state.
  std::int64_t y_row(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  std::int64_t x_row(std::int64_t t, std::int64_t b) const {
    return (batch_first ? b * steps + t : t * batch + b) * inputs;
  }
  std::int64_t state_row(std::int64_t d, std::int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }
};

/// Length of sequence b: sequence_lens[b], or T when `lengths` is nullptr. InputError outside [0, T].
std::int64_t sequence_length(const RecurrentProblem& problem, const void* lengths, std::int64_t b);

/// Implementations.
std::unique_ptr<Kernel> make_stepwise_kernel(const NodeView& view, PrepareContext& context);
std::unique_ptr<Kernel> make_recurrent_reference(const NodeView& view);

}  // namespace espalier
