#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "layers/recurrent/panel_matrix.hpp"
#include "layers/recurrent/problem.hpp"

// The fast implementation: for a chunk of time steps one product of all inputs with W, then step by step the
// product of the state with R and the cell. Everything stays in the caches of one core.
namespace espalier {
namespace {

using Kind = RecurrentProblem::Kind;

/// Packed weights of one direction. GRU: the gates z r and h apart, since h needs the reset state.
struct DirectionWeights {
  std::vector<PanelMatrix> input, recurrent;  // by block of gates
  std::vector<float> bias;                    // of a row of gates, padded as the blocks are
  std::vector<float> reset_bias;              // Rb of the h gate (linear_before_reset)
};

class StepwiseKernel final : public Kernel {
 public:
  StepwiseKernel(const NodeView& view, PrepareContext& context) : p_(view) {
    const std::int64_t width = PanelMatrix::panel_width();
    block_rows_ = {p_.kind == Kind::gru ? 2 * p_.hidden : p_.gates * p_.hidden};
    if (p_.kind == Kind::gru) block_rows_.push_back(p_.hidden);
    for (std::int64_t rows : block_rows_) {
      block_at_.push_back(row_);
      row_ += (rows + width - 1) / width * width;
    }
    state_ = (p_.hidden + width - 1) / width * width;
    constexpr std::int64_t kChunkFloats = 1 << 17;  // half a megabyte
    chunk_ = std::clamp<std::int64_t>(kChunkFloats / std::max<std::int64_t>(1, row_ * p_.batch), 1,
                                      std::max<std::int64_t>(1, p_.steps));
    for (std::int64_t d = 0; d < p_.directions; ++d) weights_.push_back(packed(view, context, d));
  }

  std::size_t scratch_bytes() const override {
    const std::int64_t gathered = p_.batch_first ? chunk_ * p_.batch * p_.inputs : 0;
    return static_cast<std::size_t>(chunk_ * p_.batch * row_ + 4 * p_.batch * state_ + gathered + 64) *
           sizeof(float);
  }

  void run(const KernelArguments& arguments) override {
    const auto in = [&](RecurrentProblem::Input i) {
      return p_.has(i) ? static_cast<const float*>(arguments.inputs[i]) : nullptr;
    };
    lengths_ = p_.has(RecurrentProblem::kLengths) ? arguments.inputs[RecurrentProblem::kLengths] : nullptr;
    longest_ = 0;
    for (std::int64_t b = 0; b < p_.batch; ++b)
      longest_ = std::max(longest_, sequence_length(p_, lengths_, b));
    gates_ = static_cast<float*>(arguments.scratch);
    h_ = gates_ + chunk_ * p_.batch * row_;
    c_ = h_ + p_.batch * state_;
    reset_ = c_ + p_.batch * state_;
    linear_ = reset_ + p_.batch * state_;
    gathered_ = linear_ + p_.batch * state_;
    x_ = in(RecurrentProblem::kX);
    y_ = static_cast<float*>(arguments.outputs[0]);
    for (std::int64_t d = 0; d < p_.directions; ++d) {
      const float* peepholes = p_.kind == Kind::lstm ? in(RecurrentProblem::kPeepholes) : nullptr;
      peepholes_ = peepholes == nullptr ? nullptr : peepholes + d * 3 * p_.hidden;
      load(h_, in(RecurrentProblem::kInitialH), d);
      if (p_.kind == Kind::lstm) load(c_, in(RecurrentProblem::kInitialC), d);
      run_direction(d);
      for (std::size_t o = 1; o < arguments.outputs.size(); ++o)
        if (arguments.outputs[o] != nullptr)
          store(o == 1 ? h_ : c_, static_cast<float*>(arguments.outputs[o]), d);
    }
  }

 private:
  std::shared_ptr<const DirectionWeights> packed(const NodeView& view, PrepareContext& context,
                                                 std::int64_t d) {
    const auto data = [&](std::size_t i) {
      return p_.has(static_cast<RecurrentProblem::Input>(i)) ? view.constants[i]->as<float>().data()
                                                             : nullptr;
    };
    const float* w = data(RecurrentProblem::kW);
    const float* r = data(RecurrentProblem::kR);
    const float* b = data(RecurrentProblem::kBias);
    const bool linear = p_.cells[0].linear_before_reset && p_.kind == Kind::gru;
    const std::string key =
        fmt::format("{}/{}/{}/recurrent/{}/{}/{}", static_cast<const void*>(w), static_cast<const void*>(r),
                    static_cast<const void*>(b), view.op(), d, linear);
    return context.weights.get_or_make<DirectionWeights>(key, [&] { return pack(w, r, b, d, linear); });
  }

  std::shared_ptr<const DirectionWeights> pack(const float* w, const float* r, const float* b, std::int64_t d,
                                               bool linear) const {
    const std::int64_t all = p_.gates * p_.hidden;
    auto out = std::make_shared<DirectionWeights>();
    out->bias.assign(static_cast<std::size_t>(row_), 0.0F);
    std::int64_t first = 0;
    for (std::size_t k = 0; k < block_rows_.size(); ++k) {
      out->input.emplace_back(w + (d * all + first) * p_.inputs, block_rows_[k], p_.inputs);
      out->recurrent.emplace_back(r + (d * all + first) * p_.hidden, block_rows_[k], p_.hidden);
      for (std::int64_t i = 0; b != nullptr && i < block_rows_[k]; ++i) {
        const bool apart = linear && k == 1;
        out->bias[static_cast<std::size_t>(block_at_[k] + i)] =
            b[d * 2 * all + first + i] + (apart ? 0.0F : b[d * 2 * all + all + first + i]);
      }
      first += block_rows_[k];
    }
    out->reset_bias.assign(static_cast<std::size_t>(state_), 0.0F);
    for (std::int64_t i = 0; linear && b != nullptr && i < p_.hidden; ++i)
      out->reset_bias[static_cast<std::size_t>(i)] = b[d * 2 * all + all + 2 * p_.hidden + i];
    return out;
  }

  void load(float* state, const float* from, std::int64_t d) const {
    for (std::int64_t b = 0; b < p_.batch; ++b) {
      if (from == nullptr)
        std::fill(state + b * state_, state + b * state_ + p_.hidden, 0.0F);
      else
        std::copy_n(from + p_.state_row(d, b), p_.hidden, state + b * state_);
    }
  }

  void store(const float* state, float* to, std::int64_t d) const {
    for (std::int64_t b = 0; b < p_.batch; ++b)
      std::copy_n(state + b * state_, p_.hidden, to + p_.state_row(d, b));
  }

  /// Steps [0, longest) in chunks, each forward or backward; behind the longest sequence Y is zero.
  void run_direction(std::int64_t d) {
    const bool reverse = p_.reverse[static_cast<std::size_t>(d)];
    if (y_ != nullptr)
      for (std::int64_t t = longest_; t < p_.steps; ++t)
        for (std::int64_t b = 0; b < p_.batch; ++b) write_y(t, d, b, nullptr);
    const std::int64_t chunks = (longest_ + chunk_ - 1) / chunk_;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const std::int64_t first = (reverse ? chunks - 1 - i : i) * chunk_;
      const std::int64_t last = std::min(first + chunk_, longest_);
      project(d, first, last);
      for (std::int64_t s = 0; s < last - first; ++s) step(d, reverse ? last - 1 - s : first + s, first);
    }
  }

  /// Rows [(t - first) batch + b] of the gates become x W^T + bias.
  void project(std::int64_t d, std::int64_t first, std::int64_t last) {
    const float* x = x_ + first * p_.batch * p_.inputs;
    if (p_.batch_first) {
      x = gathered_;
      for (std::int64_t t = first; t < last; ++t)
        for (std::int64_t b = 0; b < p_.batch; ++b)
          std::copy_n(x_ + p_.x_row(t, b), p_.inputs, gathered_ + ((t - first) * p_.batch + b) * p_.inputs);
    }
    const DirectionWeights& weights = *weights_[static_cast<std::size_t>(d)];
    for (std::size_t k = 0; k < block_rows_.size(); ++k)
      weights.input[k].multiply(x, p_.inputs, weights.bias.data() + block_at_[k], gates_ + block_at_[k], row_,
                                (last - first) * p_.batch);
  }

  void step(std::int64_t d, std::int64_t t, std::int64_t first) {
    const DirectionWeights& weights = *weights_[static_cast<std::size_t>(d)];
    const CellOptions& cell = p_.cells[static_cast<std::size_t>(d)];
    float* gates = gates_ + (t - first) * p_.batch * row_;
    weights.recurrent[0].multiply(h_, state_, nullptr, gates, row_, p_.batch);
    if (p_.kind == Kind::gru) {
      const bool linear = cell.linear_before_reset;
      for (std::int64_t b = 0; b < p_.batch; ++b)
        gru_cell_gates(cell, gates + b * row_, h_ + b * state_, linear ? nullptr : reset_ + b * state_);
      if (linear)
        weights.recurrent[1].multiply(h_, state_, weights.reset_bias.data(), linear_, state_, p_.batch);
      else
        weights.recurrent[1].multiply(reset_, state_, nullptr, gates + block_at_[1], row_, p_.batch);
    }
    for (std::int64_t b = 0; b < p_.batch; ++b) {
      const bool active = lengths_ == nullptr || t < static_cast<const std::int32_t*>(lengths_)[b];
      if (active) update(cell, gates + b * row_, b);
      write_y(t, d, b, active ? h_ + b * state_ : nullptr);
    }
  }

  void update(const CellOptions& cell, float* gates, std::int64_t b) {
    float* h = h_ + b * state_;
    switch (p_.kind) {
      case Kind::lstm:
        return lstm_cell(cell, gates, peepholes_, c_ + b * state_, h);
      case Kind::gru:
        return gru_cell_update(cell, gates, gates + block_at_[1],
                               cell.linear_before_reset ? linear_ + b * state_ : nullptr, h);
      case Kind::rnn:
        return rnn_cell(cell, gates, h);
    }
  }

  void write_y(std::int64_t t, std::int64_t d, std::int64_t b, const float* row) const {
    if (y_ == nullptr) return;
    float* to = y_ + p_.y_row(t, d, b);
    if (row == nullptr)
      std::fill(to, to + p_.hidden, 0.0F);
    else
      std::copy_n(row, p_.hidden, to);
  }

  RecurrentProblem p_;
  std::vector<std::int64_t> block_rows_, block_at_;  // blocks of gates and their places in a row of gates
  std::int64_t row_ = 0;                             // floats of a row of gates
  std::int64_t state_ = 0;                           // floats of a row of states
  std::int64_t chunk_ = 1;
  std::vector<std::shared_ptr<const DirectionWeights>> weights_;
  // of the run in progress
  const void* lengths_ = nullptr;
  std::int64_t longest_ = 0;
  const float *x_ = nullptr, *peepholes_ = nullptr;
  float *y_ = nullptr, *gates_ = nullptr, *h_ = nullptr, *c_ = nullptr, *reset_ = nullptr, *linear_ = nullptr,
        *gathered_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> make_stepwise_kernel(const NodeView& view, PrepareContext& context) {
  return std::make_unique<StepwiseKernel>(view, context);
}

}  // namespace espalier
