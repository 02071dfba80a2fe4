#include "layers/recurrent/cell.hpp"

#include <algorithm>

#include "layers/common/vector_math.hpp"

namespace espalier {
namespace {

/// i o f c with sigmoid, tanh, tanh in one pass; the peephole of o sees the new c.
template <bool kPeepholes>
struct StandardLstm {
  static ESPALIER_INLINE void run(const float* gates, const float* p, float* c, float* h, std::int64_t n,
                                  bool couple) {
    ESPALIER_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) {
      const float old = c[j];
      const float i = fast_logistic(gates[j] + (kPeepholes ? p[j] * old : 0));
      const float f_free = fast_logistic(gates[2 * n + j] + (kPeepholes ? p[2 * n + j] * old : 0));
      const float f = couple ? 1.0F - i : f_free;
      const float now = f * old + i * fast_tanh(gates[3 * n + j]);
      const float o = fast_logistic(gates[n + j] + (kPeepholes ? p[n + j] * now : 0));
      c[j] = now;
      h[j] = o * fast_tanh(now);
    }
  }
};

struct StandardGruGates {
  static ESPALIER_INLINE void run(float* gates, const float* h, float* reset, std::int64_t n) {
    ESPALIER_INDEPENDENT
    for (std::int64_t j = 0; j < 2 * n; ++j) gates[j] = fast_logistic(gates[j]);
    if (reset == nullptr) return;
    ESPALIER_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) reset[j] = gates[n + j] * h[j];
  }
};

struct StandardGruUpdate {
  static ESPALIER_INLINE void run(const float* gates, const float* candidate, const float* recurrent,
                                  float* h, std::int64_t n) {
    if (recurrent != nullptr) {
      ESPALIER_INDEPENDENT
      for (std::int64_t j = 0; j < n; ++j) {
        const float z = gates[j];
        const float now = fast_tanh(candidate[j] + gates[n + j] * recurrent[j]);
        h[j] = now + z * (h[j] - now);
      }
    } else {
      ESPALIER_INDEPENDENT
      for (std::int64_t j = 0; j < n; ++j) {
        const float now = fast_tanh(candidate[j]);
        h[j] = now + gates[j] * (h[j] - now);
      }
    }
  }
};

struct StandardRnn {
  static ESPALIER_INLINE void run(const float* gate, float* h, std::int64_t n) {
    ESPALIER_INDEPENDENT
    for (std::int64_t j = 0; j < n; ++j) h[j] = fast_tanh(gate[j]);
  }
};

void activate(const CellOptions& cell, const CellActivation& activation, float* x, std::int64_t n) {
  if (cell.clip > 0)
    for (std::int64_t j = 0; j < n; ++j) x[j] = std::clamp(x[j], -cell.clip, cell.clip);
  activation.row(x, x, n, activation.parameters);
}

void add_product(float* x, const float* p, const float* c, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) x[j] += p[j] * c[j];
}

}  // namespace

void lstm_cell(const CellOptions& cell, float* gates, const float* peepholes, float* c, float* h) {
  const std::int64_t n = cell.hidden;
  if (cell.standard) {
    const float* read = gates;
    if (peepholes != nullptr)
      simd_call<StandardLstm<true>>(read, peepholes, c, h, n, cell.input_forget);
    else
      simd_call<StandardLstm<false>>(read, peepholes, c, h, n, cell.input_forget);
    return;
  }
  float *i = gates, *o = gates + n, *f = gates + 2 * n, *g = gates + 3 * n;
  if (peepholes != nullptr) add_product(i, peepholes, c, n);
  activate(cell, cell.f, i, n);
  if (cell.input_forget) {
    for (std::int64_t j = 0; j < n; ++j) f[j] = 1.0F - i[j];
  } else {
    if (peepholes != nullptr) add_product(f, peepholes + 2 * n, c, n);
    activate(cell, cell.f, f, n);
  }
  activate(cell, cell.g, g, n);
  for (std::int64_t j = 0; j < n; ++j) c[j] = f[j] * c[j] + i[j] * g[j];
  if (peepholes != nullptr) add_product(o, peepholes + n, c, n);
  activate(cell, cell.f, o, n);
  cell.h.row(c, h, n, cell.h.parameters);
  for (std::int64_t j = 0; j < n; ++j) h[j] *= o[j];
}

void gru_cell_gates(const CellOptions& cell, float* gates, const float* h, float* reset) {
  const std::int64_t n = cell.hidden;
  if (cell.standard) {
    simd_call<StandardGruGates>(gates, h, reset, n);
    return;
  }
  activate(cell, cell.f, gates, 2 * n);
  if (reset != nullptr)
    for (std::int64_t j = 0; j < n; ++j) reset[j] = gates[n + j] * h[j];
}

void gru_cell_update(const CellOptions& cell, const float* gates, float* candidate, const float* recurrent,
                     float* h) {
  const std::int64_t n = cell.hidden;
  if (cell.standard) {
    const float* read = candidate;
    simd_call<StandardGruUpdate>(gates, read, recurrent, h, n);
    return;
  }
  if (recurrent != nullptr) add_product(candidate, gates + n, recurrent, n);
  activate(cell, cell.g, candidate, n);
  for (std::int64_t j = 0; j < n; ++j) h[j] = (1.0F - gates[j]) * candidate[j] + gates[j] * h[j];
}

void rnn_cell(const CellOptions& cell, float* gate, float* h) {
  if (cell.standard) {
    const float* read = gate;
    simd_call<StandardRnn>(read, h, cell.hidden);
    return;
  }
  activate(cell, cell.f, gate, cell.hidden);
  std::copy(gate, gate + cell.hidden, h);
}

}  // namespace espalier
