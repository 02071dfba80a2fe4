#include <fmt/format.h>

#include "runtime/task_graph/sources/generators.hpp"

namespace espalier::source {
namespace {

/// A matrix of tiles and the tasks on them.
class Tiles {
 public:
  Tiles(GeneratorOptions& options, std::int64_t most) : name_(options.name()) {
    n_ = options.whole("tiles", 20, 1, most, true);
    nb_ = options.whole("nb", 960, 1, 100'000);
    element_ = options.whole("bytes", 4, 2, 8);
    options.finish();
    builder_.graph().name = fmt::format("{}:{}", name_, n_);
    tile_bytes_ = Bytes(nb_ * nb_ * element_);
  }
  std::int64_t n() const { return n_; }
  double nb3() const {
    return static_cast<double>(nb_) * static_cast<double>(nb_) * static_cast<double>(nb_);
  }
  /// Room for all tiles, also those that a factorisation of the lower triangle does not touch.
  void add_matrix() {
    for (std::int64_t i = 0; i < n_ * n_; ++i) tiles_.push_back(kNone);
  }
  DataId tile(std::int64_t row, std::int64_t column) {
    DataId& d = tiles_[static_cast<std::size_t>(row * n_ + column)];
    if (d == kNone) d = builder_.add_data({tile_bytes_});
    return d;
  }
  DataId add_tile() { return builder_.add_data({tile_bytes_}); }
  void task(const char* codelet, double flops, std::int64_t priority,
            std::initializer_list<Access> accesses) {
    std::int64_t bytes = 0;
    for (const Access& a : accesses) bytes += (a.mode == AccessMode::read_write ? 2 : 1) * tile_bytes_.value;
    Task t;
    t.cost_class = builder_.add_class(
        {codelet, fmt::format("nb={} bytes={}", nb_, element_), Flops(flops), Bytes(bytes), 0});
    t.priority = static_cast<std::int32_t>(priority);
    builder_.add_task(t, {accesses.begin(), accesses.size()});
  }
  LoadedTaskGraph build() { return {builder_.build(), nullptr}; }

 private:
  static constexpr DataId kNone = ~DataId{0};
  std::string name_;
  std::int64_t n_ = 0, nb_ = 0, element_ = 0;
  Bytes tile_bytes_;
  TaskGraphBuilder builder_;
  std::vector<DataId> tiles_;
};

constexpr AccessMode R = AccessMode::read, W = AccessMode::write, RW = AccessMode::read_write;

}  // namespace

/// Right-looking, lower triangle; codelets and priorities as in StarPU's example cholesky_implicit.
LoadedTaskGraph cholesky(GeneratorOptions& options) {
  Tiles a(options, 350);
  a.add_matrix();
  const std::int64_t n = a.n();
  for (std::int64_t k = 0; k < n; ++k) {
    a.task("chol_model_potrf", a.nb3() / 3, 2 * n - 2 * k, {{a.tile(k, k), RW}});
    for (std::int64_t m = k + 1; m < n; ++m)
      a.task("chol_model_trsm", a.nb3(), 2 * n - 2 * k - m, {{a.tile(k, k), R}, {a.tile(m, k), RW}});
    for (std::int64_t j = k + 1; j < n; ++j) {
      a.task("chol_model_syrk", a.nb3(), 2 * n - 2 * k - j, {{a.tile(j, k), R}, {a.tile(j, j), RW}});
      for (std::int64_t m = j + 1; m < n; ++m)
        a.task("chol_model_gemm", 2 * a.nb3(), 2 * n - 2 * k - j - m,
               {{a.tile(m, k), R}, {a.tile(j, k), R}, {a.tile(m, j), RW}});
    }
  }
  return a.build();
}

/// Right-looking, without pivoting; codelets as in StarPU's example lu_implicit.
LoadedTaskGraph lu(GeneratorOptions& options) {
  Tiles a(options, 250);
  a.add_matrix();
  const std::int64_t n = a.n();
  for (std::int64_t k = 0; k < n; ++k) {
    a.task("lu_model_getrf", 2 * a.nb3() / 3, 3 * n - 3 * k, {{a.tile(k, k), RW}});
    for (std::int64_t j = k + 1; j < n; ++j)
      a.task("lu_model_trsm_ll", a.nb3(), 3 * n - 2 * k - j, {{a.tile(k, k), R}, {a.tile(k, j), RW}});
    for (std::int64_t i = k + 1; i < n; ++i)
      a.task("lu_model_trsm_ru", a.nb3(), 3 * n - 2 * k - i, {{a.tile(k, k), R}, {a.tile(i, k), RW}});
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j < n; ++j)
        a.task("lu_model_gemm", 2 * a.nb3(), 3 * n - k - i - j,
               {{a.tile(i, k), R}, {a.tile(k, j), R}, {a.tile(i, j), RW}});
  }
  return a.build();
}

/// Tile QR on a flat tree, Buttari, Langou, Kurzak, Dongarra, "A class of parallel tiled linear algebra
/// algorithms for multicore architectures", Parallel Computing 35, 2009; flops for a small inner block size.
LoadedTaskGraph qr(GeneratorOptions& options) {
  Tiles a(options, 250);
  a.add_matrix();
  const std::int64_t n = a.n();
  for (std::int64_t k = 0; k < n; ++k) {
    const DataId t = a.add_tile();
    a.task("qr_geqrt", 4 * a.nb3() / 3, 3 * n - 3 * k, {{a.tile(k, k), RW}, {t, W}});
    for (std::int64_t j = k + 1; j < n; ++j)
      a.task("qr_ormqr", 2 * a.nb3(), 3 * n - 2 * k - j, {{a.tile(k, k), R}, {t, R}, {a.tile(k, j), RW}});
    for (std::int64_t i = k + 1; i < n; ++i) {
      const DataId ti = a.add_tile();
      a.task("qr_tsqrt", 2 * a.nb3(), 3 * n - 2 * k - i, {{a.tile(k, k), RW}, {a.tile(i, k), RW}, {ti, W}});
      for (std::int64_t j = k + 1; j < n; ++j)
        a.task("qr_tsmqr", 4 * a.nb3(), 3 * n - k - i - j,
               {{a.tile(i, k), R}, {ti, R}, {a.tile(k, j), RW}, {a.tile(i, j), RW}});
    }
  }
  return a.build();
}

}  // namespace espalier::source
