#include "layers/common/window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;

Extents3 widen(const std::vector<std::int64_t>& values, std::int64_t filler) {
  Extents3 e{filler, filler, filler};
  std::copy(values.begin(), values.end(), e.end() - static_cast<std::ptrdiff_t>(values.size()));
  return e;
}

void same_padding(Window& w, bool upper) {
  for (int i = 3 - w.rank; i < 3; ++i) {
    w.out[i] = (w.in[i] + w.stride[i] - 1) / w.stride[i];
    const std::int64_t total = std::max<std::int64_t>(0, (w.out[i] - 1) * w.stride[i] + w.reach(i) - w.in[i]);
    w.pad_begin[i] = upper ? total / 2 : total - total / 2;
    w.pad_end[i] = total - w.pad_begin[i];
  }
}

void explicit_padding(Window& w, bool ceil_mode) {
  for (int i = 3 - w.rank; i < 3; ++i) {
    const std::int64_t free = w.in[i] + w.pad_begin[i] + w.pad_end[i] - w.reach(i);
    if (free < 0)
      throw InputError(fmt::format(
          "the kernel reaches over {} on spatial axis {} but the padded input has only {} ({} + {} + {})",
          w.reach(i), i - 3 + w.rank, w.in[i] + w.pad_begin[i] + w.pad_end[i], w.pad_begin[i], w.in[i],
          w.pad_end[i]));
    w.out[i] = (free + (ceil_mode ? w.stride[i] - 1 : 0)) / w.stride[i] + 1;
    if (ceil_mode && (w.out[i] - 1) * w.stride[i] >= w.in[i] + w.pad_begin[i]) --w.out[i];
  }
}

void read_pads(const Attributes& a, Window& w) {
  const auto pads = a.get_ints("pads");
  if (pads.empty()) return;
  if (pads.size() != 2 * static_cast<std::size_t>(w.rank))
    throw InputError(
        fmt::format("pads has {} entries; {} spatial axes need {}", pads.size(), w.rank, 2 * w.rank));
  for (int i = 0; i < w.rank; ++i) {
    const std::int64_t begin = pads[i], end = pads[i + w.rank];
    if (begin < 0 || end < 0 || begin >= kLimit || end >= kLimit)
      throw InputError(fmt::format("pads [{}] is outside [0, 2^31)", fmt::join(pads, ", ")));
    w.pad_begin[3 - w.rank + i] = begin;
    w.pad_end[3 - w.rank + i] = end;
  }
}

}  // namespace

std::vector<std::int64_t> spatial_extents(const Shape& x) {
  if (x.rank() < 3 || x.rank() > 5)
    throw InputError(fmt::format("input {} has {} axes; 3 to 5 (batch, 1 to 3 spatial, channels) are served",
                                 x.to_string(), x.rank()));
  return {x.begin() + 1, x.end() - 1};
}

std::vector<std::int64_t> read_extents(const Attributes& a, const char* name, int rank, std::int64_t fallback,
                                       std::int64_t lowest) {
  auto values = a.get_ints(name);
  if (values.empty()) values.assign(static_cast<std::size_t>(rank), fallback);
  if (values.size() != static_cast<std::size_t>(rank))
    throw InputError(fmt::format("{} has {} entries; there are {} spatial axes", name, values.size(), rank));
  for (std::int64_t v : values)
    if (v < lowest || v >= kLimit)
      throw InputError(fmt::format("{} [{}] is outside [{}, 2^31)", name, fmt::join(values, ", "), lowest));
  return values;
}

Window read_window(const Attributes& a, const std::vector<std::int64_t>& kernel,
                   const std::vector<std::int64_t>& spatial) {
  Window w;
  w.rank = static_cast<int>(spatial.size());
  w.in = widen(spatial, 1);
  for (std::int64_t k : kernel)
    if (k < 1 || k >= kLimit)
      throw InputError(fmt::format("kernel [{}] is outside [1, 2^31)", fmt::join(kernel, ", ")));
  w.kernel = widen(kernel, 1);
  w.stride = widen(read_extents(a, "strides", w.rank, 1, 1), 1);
  w.dilation = widen(read_extents(a, "dilations", w.rank, 1, 1), 1);
  if (!Shape(spatial).is_static()) throw InputError("the spatial extents must be known");
  const std::string pad = a.get_string("auto_pad", "NOTSET");
  if (pad == "SAME_UPPER" || pad == "SAME_LOWER") {
    same_padding(w, pad == "SAME_UPPER");
    return w;
  }
  if (pad != "NOTSET" && pad != "VALID" && !pad.empty())
    throw InputError(fmt::format("auto_pad \"{}\" is none of NOTSET, VALID, SAME_UPPER, SAME_LOWER", pad));
  if (pad != "VALID") read_pads(a, w);
  explicit_padding(w, pad != "VALID" && a.get_int("ceil_mode", 0) != 0);
  return w;
}

Shape window_output(const Window& w, std::int64_t batch, std::int64_t channels) {
  std::vector<std::int64_t> dims{batch};
  for (std::int64_t e : w.tail(w.out)) dims.push_back(e);
  dims.push_back(channels);
  return Shape(std::move(dims));
}

}  // namespace espalier
