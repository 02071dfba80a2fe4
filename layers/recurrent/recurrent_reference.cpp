#include <algorithm>
#include <cmath>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/recurrent/problem.hpp"

// ONNX's equations step by step in double, whatever the storage type.
namespace espalier {
namespace {

template <class F>
bool apply_if(const CellActivation& a, double& x) {
  if (F::op != a.op) return false;
  x = F{}(x, a.parameters.alpha, a.parameters.beta);
  return true;
}

template <class... Fs>
double apply_any(const CellActivation& a, double x) {
  static_cast<void>((apply_if<Fs>(a, x) || ...));
  return x;
}

double activate(const CellOptions& cell, const CellActivation& a, double x, bool gate = true) {
  if (gate && cell.clip > 0)
    x = std::clamp(x, -static_cast<double>(cell.clip), static_cast<double>(cell.clip));
  return apply_any<ReluFunction, TanhFunction, SigmoidFunction, AffineFunction, LeakyReluFunction,
                   ThresholdedReluFunction, ScaledTanhFunction, HardSigmoidFunction, EluFunction,
                   SoftsignFunction, SoftplusFunction>(a, x);
}

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view) : p_(view) {}

  /// h and c of one sequence, the reset state, and the gates.
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>((3 + p_.gates) * p_.hidden) * sizeof(double);
  }

  void run(const KernelArguments& arguments) override {
    for (std::int64_t d = 0; d < p_.directions; ++d)
      for (std::int64_t b = 0; b < p_.batch; ++b) sequence(arguments, d, b);
  }

 private:
  using Problem = RecurrentProblem;

  const T* in(const KernelArguments& a, Problem::Input i) const {
    return p_.has(i) ? static_cast<const T*>(a.inputs[i]) : nullptr;
  }
  static double value(T v) { return static_cast<double>(Compute<T>(v)); }

  void sequence(const KernelArguments& a, std::int64_t d, std::int64_t b) {
    h_ = static_cast<double*>(a.scratch);
    c_ = h_ + p_.hidden;
    reset_ = c_ + p_.hidden;
    gate_ = reset_ + p_.hidden;
    const T* h0 = in(a, Problem::kInitialH);
    const T* c0 = p_.kind == Problem::Kind::lstm ? in(a, Problem::kInitialC) : nullptr;
    for (std::int64_t j = 0; j < p_.hidden; ++j) {
      h_[j] = h0 != nullptr ? value(h0[p_.state_row(d, b) + j]) : 0;
      c_[j] = c0 != nullptr ? value(c0[p_.state_row(d, b) + j]) : 0;
    }
    const void* lengths = p_.has(Problem::kLengths) ? a.inputs[Problem::kLengths] : nullptr;
    const std::int64_t length = sequence_length(p_, lengths, b);
    for (std::int64_t s = 0; s < p_.steps; ++s) {
      const std::int64_t t = p_.reverse[static_cast<std::size_t>(d)] ? p_.steps - 1 - s : s;
      if (t < length) step(a, d, t, b);
      store(a, 0, p_.y_row(t, d, b), t < length ? h_ : nullptr);
    }
    store(a, 1, p_.state_row(d, b), h_);
    if (p_.kind == Problem::Kind::lstm) store(a, 2, p_.state_row(d, b), c_);
  }

  void store(const KernelArguments& a, std::size_t o, std::int64_t row, const double* from) const {
    if (o >= a.outputs.size() || a.outputs[o] == nullptr) return;
    T* to = static_cast<T*>(a.outputs[o]) + row;
    for (std::int64_t j = 0; j < p_.hidden; ++j) to[j] = from == nullptr ? T{} : convert_element<T>(from[j]);
  }

  /// x W_g^T + Wb_g for one unit of gate g, without the recurrent part.
  double from_input(const KernelArguments& a, std::int64_t d, std::int64_t t, std::int64_t b,
                    std::int64_t row) const {
    const T* x = in(a, Problem::kX) + p_.x_row(t, b);
    const T* w = in(a, Problem::kW) + (d * p_.gates * p_.hidden + row) * p_.inputs;
    double sum = bias(a, d, row);
    for (std::int64_t k = 0; k < p_.inputs; ++k) sum += value(x[k]) * value(w[k]);
    return sum;
  }
  /// state R_g^T + Rb_g.
  double from_state(const KernelArguments& a, std::int64_t d, const double* state, std::int64_t row) const {
    const T* r = in(a, Problem::kR) + (d * p_.gates * p_.hidden + row) * p_.hidden;
    double sum = bias(a, d, p_.gates * p_.hidden + row);
    for (std::int64_t k = 0; k < p_.hidden; ++k) sum += state[k] * value(r[k]);
    return sum;
  }
  double bias(const KernelArguments& a, std::int64_t d, std::int64_t row) const {
    const T* bias = in(a, Problem::kBias);
    return bias == nullptr ? 0 : value(bias[d * 2 * p_.gates * p_.hidden + row]);
  }

  void step(const KernelArguments& a, std::int64_t d, std::int64_t t, std::int64_t b) {
    const CellOptions& cell = p_.cells[static_cast<std::size_t>(d)];
    const std::int64_t n = p_.hidden;
    const bool gru = p_.kind == Problem::Kind::gru;
    for (std::int64_t row = 0; row < (gru ? 2 * n : p_.gates * n); ++row)
      gate_[row] = from_input(a, d, t, b, row) + from_state(a, d, h_, row);
    if (p_.kind == Problem::Kind::lstm)
      lstm(cell, p_.has(Problem::kPeepholes) ? in(a, Problem::kPeepholes) + d * 3 * n : nullptr);
    else if (gru)
      gru_step(a, cell, d, t, b);
    else
      for (std::int64_t j = 0; j < n; ++j) h_[j] = activate(cell, cell.f, gate_[j]);
  }

  void lstm(const CellOptions& cell, const T* peephole) {
    const std::int64_t n = p_.hidden;
    const auto peep = [&](std::int64_t j) { return peephole == nullptr ? 0 : value(peephole[j]); };
    for (std::int64_t j = 0; j < n; ++j) {
      const double i = activate(cell, cell.f, gate_[j] + peep(j) * c_[j]);
      double f = activate(cell, cell.f, gate_[2 * n + j] + peep(2 * n + j) * c_[j]);
      if (cell.input_forget) f = 1 - i;
      c_[j] = f * c_[j] + i * activate(cell, cell.g, gate_[3 * n + j]);
      const double o = activate(cell, cell.f, gate_[n + j] + peep(n + j) * c_[j]);
      h_[j] = o * activate(cell, cell.h, c_[j], false);
    }
  }

  void gru_step(const KernelArguments& a, const CellOptions& cell, std::int64_t d, std::int64_t t,
                std::int64_t b) {
    const std::int64_t n = p_.hidden;
    for (std::int64_t j = 0; j < 2 * n; ++j) gate_[j] = activate(cell, cell.f, gate_[j]);
    for (std::int64_t j = 0; j < n; ++j) reset_[j] = gate_[n + j] * h_[j];
    for (std::int64_t j = 0; j < n; ++j) {
      const double recurrent = cell.linear_before_reset ? gate_[n + j] * from_state(a, d, h_, 2 * n + j)
                                                        : from_state(a, d, reset_, 2 * n + j);
      gate_[2 * n + j] = activate(cell, cell.g, from_input(a, d, t, b, 2 * n + j) + recurrent);
    }
    for (std::int64_t j = 0; j < n; ++j) h_[j] = (1 - gate_[j]) * gate_[2 * n + j] + gate_[j] * h_[j];
  }

  RecurrentProblem p_;
  double *h_ = nullptr, *c_ = nullptr, *reset_ = nullptr, *gate_ = nullptr;
};

}  // namespace

std::unique_ptr<Kernel> make_recurrent_reference(const NodeView& view) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view);
  });
}

}  // namespace espalier
