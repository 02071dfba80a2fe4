// The inner loops over the vectors of vector_*.inl. Included once for each instruction set, inside its namespace, with
// ESPALIER_TARGET (attribute of a function), ESPALIER_INLINE (of a helper) and ESPALIER_UNROLL defined.

/// 1 / (1 + 2^t) with t = -v / ln 2 held in [-126, 126]; 2^fraction by a polynomial of degree 5 fitted over [0, 1) to a
/// relative error of 7.5e-8.
ESPALIER_INLINE Vec sigmoid(Vec v) {
  const Vec t = max(min(v * broadcast(-1.44269504F), broadcast(126.0F)), broadcast(-126.0F));
  const Vec f = fraction(t);
  Vec p = broadcast(0.0018775759963318706F);
  p = fma(p, f, broadcast(0.00898934155702591F));
  p = fma(p, f, broadcast(0.05582631751894951F));
  p = fma(p, f, broadcast(0.24015361070632935F));
  p = fma(p, f, broadcast(0.6931530833244324F));
  p = fma(p, f, broadcast(0.9999999403953552F));
  return reciprocal(broadcast(1.0F) + scale_by_floor(p, t));
}

template <Activation A>
ESPALIER_INLINE Vec activate(Vec v, const Epilogue& e) {
  if constexpr (A == Activation::silu) return v * sigmoid(v);
  if constexpr (A == Activation::sigmoid) return sigmoid(v);
  if constexpr (A == Activation::hard_swish)
    return v * min(max(fma(v, broadcast(1.0F / 6), broadcast(0.5F)), broadcast(0.0F)), broadcast(1.0F));
  return min(broadcast(e.high), max(broadcast(e.low), v));
}

/// y = epilogue(v), both of `count` points `step` and `v_step` floats apart, one vector each of which n lanes exist;
/// `residual` stands as y does, or is nullptr.
template <Activation A, bool full>
ESPALIER_TARGET void finish_points(const float* v, std::int64_t v_step, float* y, const float* residual, std::int64_t step,
                                   int count, Vec bias, const Epilogue& e, int n) {
  for (int i = 0; i < count; ++i) {
    Vec value = load(v + i * v_step) + bias;
    if (residual == nullptr) {
      value = activate<A>(value, e);
    } else {
      const Vec r = full ? load(residual + i * step) : load_first(residual + i * step, n);
      value = e.residual_last ? activate<A>(value, e) + r : activate<A>(value + r, e);
    }
    if (full)
      store(y + i * step, value);
    else
      store_first(y + i * step, value, n);
  }
}

template <Activation A>
ESPALIER_INLINE void finish_as(const float* v, std::int64_t v_step, float* y, const float* residual, std::int64_t step,
                               int count, Vec bias, const Epilogue& e, int n) {
  if (n == kWidth)
    finish_points<A, true>(v, v_step, y, residual, step, count, bias, e, n);
  else
    finish_points<A, false>(v, v_step, y, residual, step, count, bias, e, n);
}

ESPALIER_TARGET void finish(const float* v, std::int64_t v_step, float* y, const float* residual, std::int64_t step,
                            int count, Vec bias, const Epilogue& e, int n) {
  switch (e.activation) {
    case Activation::silu:
      return finish_as<Activation::silu>(v, v_step, y, residual, step, count, bias, e, n);
    case Activation::sigmoid:
      return finish_as<Activation::sigmoid>(v, v_step, y, residual, step, count, bias, e, n);
    case Activation::hard_swish:
      return finish_as<Activation::hard_swish>(v, v_step, y, residual, step, count, bias, e, n);
    case Activation::clamp:
      return finish_as<Activation::clamp>(v, v_step, y, residual, step, count, bias, e, n);
  }
}

/// The way out of a tile that a clamp follows: whole vectors, residual first.
template <int R, int V, bool residual>
ESPALIER_INLINE void store_clamped(const GemmCall& g, const Epilogue& e, std::int64_t row, std::int64_t column,
                                   Vec (&acc)[R][V]) {
  const Vec low = broadcast(e.low), high = broadcast(e.high);
  float* c = g.c + row * g.ldc + column;
  const float* r = residual ? g.residual + row * g.ldc + column : nullptr;
  Vec bias[V];
  ESPALIER_UNROLL
  for (int j = 0; j < V; ++j) bias[j] = e.bias != nullptr ? load(e.bias + column + j * kWidth) : broadcast(0.0F);
  ESPALIER_UNROLL
  for (int i = 0; i < R; ++i) {
    ESPALIER_UNROLL
    for (int j = 0; j < V; ++j) {
      Vec v = acc[i][j] + bias[j];
      if (residual) v = v + load(r + i * g.ldc + j * kWidth);
      store(c + i * g.ldc + j * kWidth, min(high, max(low, v)));
    }
  }
}

/// Any other: the sums go to C and come back for their epilogue, so that its code stands here once and not unrolled.
template <int R, int V>
ESPALIER_INLINE void store_general(const GemmCall& g, const Epilogue& e, std::int64_t row, std::int64_t column,
                                   Vec (&acc)[R][V], int last) {
  alignas(64) float sums[R * V * kWidth];
  ESPALIER_UNROLL
  for (int i = 0; i < R; ++i) {
    ESPALIER_UNROLL
    for (int j = 0; j < V; ++j) store(sums + (i * V + j) * kWidth, acc[i][j]);
  }
  for (int j = 0; j < V; ++j) {
    const std::int64_t at = row * g.ldc + column + j * kWidth;
    const Vec bias = e.bias != nullptr ? load(e.bias + column + j * kWidth) : broadcast(0.0F);
    finish(sums + j * kWidth, V * kWidth, g.c + at, g.residual == nullptr ? nullptr : g.residual + at, g.ldc, R, bias, e,
           j + 1 < V ? kWidth : last);
  }
}

/// What a tile asks the second-level cache for while it computes, so that the next tiles do not wait for memory: a line
/// or two of each row that the next tile will write and add, then lines of the operands that come next.
struct Ahead {
  const float* c = nullptr;         ///< the next tile's place in C, or nullptr
  const float* residual = nullptr;  ///< and in the residual
  const float* stream = nullptr;    ///< next lines of A or B
  std::int64_t step = 0;            ///< 0 without a stream
};

template <int V>
ESPALIER_INLINE void ask_row(const Ahead& ahead, std::int64_t offset) {
  __builtin_prefetch(ahead.c + offset, 1, 2);
  if (V > 1) __builtin_prefetch(ahead.c + offset + (V - 1) * kWidth, 1, 2);
  if (ahead.residual == nullptr) return;
  __builtin_prefetch(ahead.residual + offset, 0, 2);
  if (V > 1) __builtin_prefetch(ahead.residual + offset + (V - 1) * kWidth, 0, 2);
}

/// acc += A[row..., k] B[k, ...] for one k.
template <int R, int V>
ESPALIER_INLINE void gemm_step(const float* a, std::int64_t lda, const float* b, Vec (&acc)[R][V]) {
  Vec w[V];
  ESPALIER_UNROLL
  for (int j = 0; j < V; ++j) w[j] = load(b + j * kWidth);
  ESPALIER_UNROLL
  for (int i = 0; i < R; ++i) {
    const Vec x = broadcast(a[i * lda]);
    ESPALIER_UNROLL
    for (int j = 0; j < V; ++j) acc[i][j] = fma(x, w[j], acc[i][j]);
  }
}

/// R rows and V vectors of columns of C; `last` lanes of the last vector exist.
template <int R, int V>
ESPALIER_TARGET void gemm_tile(const GemmCall& g, const Epilogue& e, std::int64_t row, std::int64_t column,
                               const float* b, int last, Ahead ahead) {
  Vec acc[R][V];
  const std::int64_t lda = g.lda, depth = g.k, ldc = g.ldc;
  const float* a = g.a + row * lda;
  ESPALIER_UNROLL
  for (int i = 0; i < R; ++i) {
    ESPALIER_UNROLL
    for (int j = 0; j < V; ++j) acc[i][j] = broadcast(0.0F);
  }
  std::int64_t k = 0, asked = ahead.c == nullptr ? R * ldc : 0;
  for (; k + 2 <= depth; k += 2) {
    if (asked < R * ldc) {
      ask_row<V>(ahead, asked);
      asked += ldc;
    } else {
      __builtin_prefetch(ahead.stream, 0, 2);
      ahead.stream += ahead.step;
    }
    gemm_step<R, V>(a + k, lda, b, acc);
    gemm_step<R, V>(a + k + 1, lda, b + V * kWidth, acc);
    b += 2 * V * kWidth;
  }
  if (k < depth) gemm_step<R, V>(a + k, lda, b, acc);
  for (; asked < R * ldc; asked += ldc) ask_row<V>(ahead, asked);
  if (e.activation != Activation::clamp || last != kWidth || e.residual_last)
    store_general<R, V>(g, e, row, column, acc, last);
  else if (g.residual != nullptr)
    store_clamped<R, V, true>(g, e, row, column, acc);
  else
    store_clamped<R, V, false>(g, e, row, column, acc);
}

/// A few rows of one panel of columns, and what comes next.
struct Strip {
  std::int64_t row, end, column;
  const float* b;
  int last;              ///< lanes of the last vector that exist
  const float* stream;   ///< operand lines to ask for, or nullptr
};

template <int V, int R>
ESPALIER_TARGET std::int64_t gemm_tiles(const GemmCall& g, const Epilogue& e, const Strip& s, std::int64_t row) {
  for (; row + R <= s.end; row += R) {
    Ahead ahead{nullptr, nullptr, g.b, 0};
    const std::int64_t next = row + kRows2;
    if (next + R <= g.m) {
      ahead.c = g.c + next * g.ldc + s.column;
      if (g.residual != nullptr) ahead.residual = g.residual + next * g.ldc + s.column;
    }
    if (s.stream != nullptr) {
      ahead.stream = s.stream;
      ahead.step = 16;
    }
    gemm_tile<R, V>(g, e, row, s.column, s.b, s.last, ahead);
  }
  return row;
}

template <int V, int R>
ESPALIER_TARGET void gemm_strip(const GemmCall& g, const Epilogue& e, const Strip& s) {
  std::int64_t row = gemm_tiles<V, R>(g, e, s, s.row);
  row = gemm_tiles<V, R / 2>(g, e, s, row);
  if (R / 2 > 3) row = gemm_tiles<V, 3>(g, e, s, row);
  gemm_tiles<V, 1>(g, e, s, row);
}

ESPALIER_INLINE std::int64_t panel_vectors(std::int64_t left) { return left == 3 ? 3 : left == 1 ? 1 : 2; }

/// Rows [row, end) by the columns of vectors [first, last), which start at b; `next_b` is the group of columns that
/// follows, `next_a` the rows that do, each nullptr at the end.
ESPALIER_TARGET void gemm_block(const GemmCall& g, const Epilogue& e, std::int64_t row, std::int64_t end,
                                std::int64_t first, std::int64_t last, const float* b, const float* next_b,
                                const float* next_a) {
  const std::int64_t vectors = (g.n + kWidth - 1) / kWidth;
  const int tail = static_cast<int>(g.n - (vectors - 1) * kWidth);
  const std::int64_t panels = (last - first + 1) / 2;
  for (std::int64_t r = row; r < end; r += kRows2) {
    Strip s{r, std::min(r + kRows2, end), 0, b, kWidth, nullptr};
    const std::int64_t tile = (r - row) / kRows2;
    for (std::int64_t v = first, index = 0; v < last; ++index) {
      const std::int64_t take = panel_vectors(vectors - v);
      s.column = v * kWidth;
      s.last = v + take == vectors ? tail : kWidth;
      s.stream = nullptr;
      if (next_b != nullptr && tile < 5)  // five tiles share a panel of two vectors
        s.stream = next_b + index * 2 * kWidth * g.k + tile * (g.k / 2) * 16;
      else if (next_a != nullptr)
        s.stream = next_a + (r - row) * g.lda + index * (kRows2 * g.lda / panels);
      if (take == 3)
        gemm_strip<3, kRows3>(g, e, s);
      else if (take == 2)
        gemm_strip<2, kRows2>(g, e, s);
      else
        gemm_strip<1, kRows2>(g, e, s);
      s.b += take * kWidth * g.k;
      v += take;
    }
  }
}

/// With a B that stays in the second-level cache all rows pass once and in order, and so do A, C and the residual. Else
/// blocks of rows whose A stays there, and for each the panels of B one after the other.
ESPALIER_TARGET void gemm(const GemmCall& g, const Epilogue& e) {
  const std::int64_t vectors = (g.n + kWidth - 1) / kWidth;
  const bool resident = g.k * vectors * kWidth <= kResidentFloats || vectors <= 3;
  const std::int64_t group = resident ? vectors : 2;
  const std::int64_t block =
      resident ? g.m : std::max<std::int64_t>(kBlockFloats / (g.k + 1) / kRows2, 1) * kRows2;
  for (std::int64_t row = 0; row < g.m; row += block) {
    const std::int64_t end = std::min(row + block, g.m);
    const float* b = g.b;
    for (std::int64_t first = 0; first < vectors;) {
      std::int64_t last = std::min(first + group, vectors);
      if (vectors - last == 1) last = vectors;  // an odd vector at the end belongs to the panel before
      const float* next_b = last < vectors ? b + (last - first) * kWidth * g.k : g.next_b;
      const float* next_a = nullptr;
      if (resident) next_a = g.a + (row + kRows2) * g.lda;
      if (!resident && next_b == nullptr && end < g.m) next_a = g.a + end * g.lda;
      gemm_block(g, e, row, end, first, last, b, next_b, next_a);
      b += (last - first) * kWidth * g.k;
      first = last;
    }
  }
}

/// P outputs of V vectors of channels, from the taps in columns [kw_begin, kw_end), which lie inside the input.
template <int P, int V, bool full>
ESPALIER_TARGET void depthwise_inner(const DepthwiseRow& d, const Epilogue& e, std::int64_t o, std::int64_t c, int last,
                                     int kw_begin, int kw_end) {
  Vec acc[P][V];
  ESPALIER_UNROLL
  for (int p = 0; p < P; ++p) {
    ESPALIER_UNROLL
    for (int v = 0; v < V; ++v) acc[p][v] = e.bias != nullptr ? load(e.bias + c + v * kWidth) : broadcast(0.0F);
  }
  const std::int64_t step = d.stride * d.channels, tap = d.dilation * d.channels;
  for (int kh = 0; kh < d.kernel_h; ++kh) {
    if (d.rows[kh] == nullptr) continue;
    const float* x = d.rows[kh] + (o * d.stride - d.pad) * d.channels + kw_begin * tap + c;
    const float* w = d.w + (kh * d.kernel_w + kw_begin) * d.w_step + c;
    for (int kw = kw_begin; kw < kw_end; ++kw, x += tap, w += d.w_step) {
      ESPALIER_UNROLL
      for (int v = 0; v < V; ++v) {
        const Vec weight = load(w + v * kWidth);
        ESPALIER_UNROLL
        for (int p = 0; p < P; ++p) {
          const float* at = x + p * step + v * kWidth;
          acc[p][v] = fma(full ? load(at) : load_first(at, last), weight, acc[p][v]);
        }
      }
    }
  }
  float* const y = d.y + o * d.channels + c;
  if (e.activation == Activation::clamp && d.residual == nullptr && full) {
    const Vec low = broadcast(e.low), high = broadcast(e.high);
    ESPALIER_UNROLL
    for (int p = 0; p < P; ++p) {
      ESPALIER_UNROLL
      for (int v = 0; v < V; ++v) store(y + p * d.channels + v * kWidth, min(high, max(low, acc[p][v])));
    }
    return;
  }
  alignas(64) float sums[P * V * kWidth];
  ESPALIER_UNROLL
  for (int p = 0; p < P; ++p) {
    ESPALIER_UNROLL
    for (int v = 0; v < V; ++v) store(sums + (p * V + v) * kWidth, acc[p][v]);
  }
  const float* residual = d.residual == nullptr ? nullptr : d.residual + o * d.channels + c;
  for (int v = 0; v < V; ++v)
    finish(sums + v * kWidth, V * kWidth, y + v * kWidth, residual == nullptr ? nullptr : residual + v * kWidth,
           d.channels, P, broadcast(0.0F), e, full ? kWidth : last);
}

/// One output near a border: taps outside are left out.
template <int V, bool full>
ESPALIER_TARGET void depthwise_border(const DepthwiseRow& d, const Epilogue& e, std::int64_t o, std::int64_t c, int last) {
  const std::int64_t at = o * d.stride - d.pad;
  int begin = 0, end = d.kernel_w;
  while (begin < end && at + begin * d.dilation < 0) ++begin;
  while (end > begin && at + (end - 1) * d.dilation >= d.in_w) --end;
  depthwise_inner<1, V, full>(d, e, o, c, last, begin, end);
}

/// Outputs [first, end) of V vectors of channels; those in [inner, inner_end) meet no border.
template <int V, bool full>
ESPALIER_TARGET void depthwise_channels(const DepthwiseRow& d, const Epilogue& e, std::int64_t inner,
                                        std::int64_t inner_end, std::int64_t c, int last) {
  for (std::int64_t o = 0; o < inner; ++o) depthwise_border<V, full>(d, e, o, c, last);
  constexpr int P = V == 1 ? 4 : kDepthwisePoints;
  std::int64_t o = inner;
  for (; o + P <= inner_end; o += P) depthwise_inner<P, V, full>(d, e, o, c, last, 0, d.kernel_w);
  for (; o < inner_end; ++o) depthwise_inner<1, V, full>(d, e, o, c, last, 0, d.kernel_w);
  for (; o < d.out_w; ++o) depthwise_border<V, full>(d, e, o, c, last);
}

ESPALIER_TARGET void depthwise_row(const DepthwiseRow& d, const Epilogue& e) {
  const std::int64_t reach = (d.kernel_w - 1) * d.dilation + 1;
  const std::int64_t inner = std::min(d.out_w, (d.pad + d.stride - 1) / d.stride);
  const std::int64_t room = d.in_w + d.pad - reach;
  const std::int64_t inner_end = std::max(inner, std::min(d.out_w, room < 0 ? 0 : room / d.stride + 1));
  std::int64_t c = 0;
  for (; c + 4 * kWidth <= d.channels; c += 4 * kWidth) depthwise_channels<4, true>(d, e, inner, inner_end, c, kWidth);
  for (; c + kWidth <= d.channels; c += kWidth) depthwise_channels<1, true>(d, e, inner, inner_end, c, kWidth);
  if (c < d.channels) depthwise_channels<1, false>(d, e, inner, inner_end, c, static_cast<int>(d.channels - c));
}

/// B^T d of the one-dimensional F(4, 3) with the points 0, 1, -1, 2, -2 and infinity (Lavin and Gray 2016, section 4.3).
ESPALIER_INLINE void winograd_input_line(const Vec* d, int step, Vec* out, int out_step) {
  const Vec four = broadcast(4.0F), five = broadcast(5.0F), two = broadcast(2.0F);
  const Vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  const Vec even = d4 - four * d2, odd = d3 - four * d1;  // of the points 1 and -1
  const Vec half = d4 - d2, slope = two * (d3 - d1);      // of the points 2 and -2
  out[0] = four * d0 - five * d2 + d4;
  out[out_step] = even + odd;
  out[2 * out_step] = even - odd;
  out[3 * out_step] = half + slope;
  out[4 * out_step] = half - slope;
  out[5 * out_step] = four * d1 - five * d3 + d5;
}

/// A^T m of the same.
ESPALIER_INLINE void winograd_output_line(const Vec* m, int step, Vec* out, int out_step) {
  const Vec sum1 = m[step] + m[2 * step], difference1 = m[step] - m[2 * step];
  const Vec sum2 = m[3 * step] + m[4 * step], difference2 = m[3 * step] - m[4 * step];
  out[0] = m[0] + sum1 + sum2;
  out[out_step] = fma(difference2, broadcast(2.0F), difference1);
  out[2 * out_step] = fma(sum2, broadcast(4.0F), sum1);
  out[3 * out_step] = fma(difference2, broadcast(8.0F), difference1) + m[5 * step];
}

ESPALIER_TARGET void winograd_input(const WinogradTile& t, std::int64_t channels, float* v, std::int64_t v_point) {
  for (std::int64_t c = 0; c < channels; c += kWidth) {
    Vec d[36], half[36], out[36];
    for (int i = 0; i < 6; ++i) {
      const float* row = t.x + i * t.row_step + c;
      ESPALIER_UNROLL
      for (int j = 0; j < 6; ++j) {
        const bool inside = i >= t.top && i < t.bottom && j >= t.left && j < t.right;
        d[6 * i + j] = inside ? load(row + j * t.column_step) : broadcast(0.0F);
      }
    }
    for (int j = 0; j < 6; ++j) winograd_input_line(d + j, 6, half + j, 6);
    for (int i = 0; i < 6; ++i) winograd_input_line(half + 6 * i, 1, out + 6 * i, 1);
    for (int i = 0; i < 36; ++i) store(v + i * v_point + c, out[i]);
  }
}

ESPALIER_TARGET void winograd_output(const float* m, std::int64_t m_point, std::int64_t filters, const WinogradResult& r,
                                     const Epilogue& e) {
  for (std::int64_t c = 0; c < filters; c += kWidth) {
    Vec in[36], half[24], out[16];
    for (int i = 0; i < 36; ++i) in[i] = load(m + i * m_point + c);
    for (int j = 0; j < 6; ++j) winograd_output_line(in + j, 6, half + j, 6);
    for (int i = 0; i < 4; ++i) winograd_output_line(half + 6 * i, 1, out + 4 * i, 1);
    const Vec bias = e.bias != nullptr ? load(e.bias + c) : broadcast(0.0F);
    alignas(64) float sums[16 * kWidth];
    for (int i = 0; i < 16; ++i) store(sums + i * kWidth, out[i]);
    for (int i = 0; i < r.rows; ++i) {
      const std::int64_t at = i * r.row_step + c;
      finish(sums + 4 * i * kWidth, kWidth, r.y + at, r.residual == nullptr ? nullptr : r.residual + at, r.column_step,
             r.columns, bias, e, kWidth);
    }
  }
}
