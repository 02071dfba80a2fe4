#include "layers/pool/pool_shape.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

PoolKind kind_of(const std::string& op) {
  if (op == "MaxPool" || op == "GlobalMaxPool") return PoolKind::max;
  if (op == "AveragePool" || op == "GlobalAveragePool") return PoolKind::average;
  return PoolKind::lp;
}

void check_type(PoolKind kind, DType t) {
  if (is_float(t) || (kind == PoolKind::max && (t == DType::i8 || t == DType::u8))) return;
  throw InputError(fmt::format("input of {}; a float type{} is needed", name_of(t),
                               kind == PoolKind::max ? ", int8 or uint8" : ""));
}

}  // namespace

std::int64_t PoolShape::divisor(const Extents3& o) const {
  std::int64_t points = 1;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t first = o[i] * window.stride[i] - window.pad_begin[i];
    const std::int64_t low = count_padding ? -window.pad_begin[i] : 0;
    const std::int64_t high = window.in[i] + (count_padding ? window.pad_end[i] : 0);
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < window.kernel[i]; ++k) {
      const std::int64_t at = first + k * window.dilation[i];
      inside += at >= low && at < high;
    }
    points *= inside;
  }
  return std::max<std::int64_t>(points, 1);
}

bool PoolShape::overhangs() const {
  for (int i = 0; i < 3; ++i)
    if ((window.out[i] - 1) * window.stride[i] + window.reach(i) >
        window.in[i] + window.pad_begin[i] + window.pad_end[i])
      return true;
  return false;
}

PoolShape pool_shape(const NodeView& view) {
  if (!view.has_input(0)) throw InputError("needs an input");
  const Shape& x = view.shape(0);
  const Attributes& a = view.attributes();
  PoolShape s;
  s.kind = kind_of(view.op());
  check_type(s.kind, view.inputs[0]->dtype);
  s.batch = x[0];
  s.channels = x[-1];
  const auto spatial = spatial_extents(x);
  if (view.op().starts_with("Global")) {
    for (std::int64_t e : spatial)
      if (e < 1) throw InputError(fmt::format("input {} has an empty spatial axis", x.to_string()));
    s.window = read_window({}, spatial, spatial);
  } else {
    const auto kernel = a.get_ints("kernel_shape");
    if (kernel.size() != spatial.size())
      throw InputError(fmt::format("kernel_shape has {} entries; input {} has {} spatial axes", kernel.size(),
                                   x.to_string(), spatial.size()));
    s.window = read_window(a, kernel, spatial);
    s.count_padding = s.kind == PoolKind::average && a.get_int("count_include_pad", 0) != 0;
    s.column_major = a.get_int("storage_order", 0) != 0;
  }
  s.p = a.get_int("p", 2);
  if (s.kind == PoolKind::lp && s.p < 1) throw InputError(fmt::format("p {} must be at least 1", s.p));
  return s;
}

}  // namespace espalier
