#include "layers/conv2d/conv_shape.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

void check_types(const NodeView& view) {
  const DType t = view.inputs[0]->dtype;
  if (!is_float(t)) throw InputError(fmt::format("input of {}; a float type is needed", name_of(t)));
  for (std::size_t i = 1; i < std::min<std::size_t>(view.inputs.size(), 3); ++i)
    if (view.has_input(i) && view.inputs[i]->dtype != t)
      throw InputError(fmt::format("{} is {} but the input is {}", i == 1 ? "the weight" : "the bias",
                                   name_of(view.inputs[i]->dtype), name_of(t)));
}

/// Spatial kernel extents of the weight, checked against kernel_shape and the input's rank.
std::vector<std::int64_t> kernel_of(const NodeView& view) {
  if (!view.has_input(0) || !view.has_input(1)) throw InputError("needs an input and a weight");
  const Shape &x = view.shape(0), &w = view.shape(1);
  if (x.rank() != w.rank())
    throw InputError(fmt::format("weight {} has {} axes but input {} has {}", w.to_string(), w.rank(),
                                 x.to_string(), x.rank()));
  if (!w.is_static()) throw InputError(fmt::format("weight {} must have known extents", w.to_string()));
  std::vector<std::int64_t> kernel(w.begin() + 2, w.end());
  const auto given = view.attributes().get_ints("kernel_shape");
  if (!given.empty() && given != kernel)
    throw InputError(
        fmt::format("kernel_shape [{}] disagrees with the weight {}", fmt::join(given, ", "), w.to_string()));
  return kernel;
}

std::int64_t groups_of(const NodeView& view, std::int64_t channels) {
  const std::int64_t groups = view.attributes().get_int("group", 1);
  if (groups < 1 || channels % groups != 0)
    throw InputError(fmt::format("group {} does not divide the {} channels of input {}", groups, channels,
                                 view.shape(0).to_string()));
  return groups;
}

void check_bias(const NodeView& view, std::int64_t filters) {
  if (view.has_input(2) && view.shape(2) != Shape{filters})
    throw InputError(fmt::format("bias {} must be [{}]", view.shape(2).to_string(), filters));
}

/// output_shape as one number for each spatial axis; ONNX allows N and C in front.
std::vector<std::int64_t> requested_output(const NodeView& view, int rank) {
  auto wanted = view.attributes().get_ints("output_shape");
  if (wanted.size() == static_cast<std::size_t>(rank) + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != static_cast<std::size_t>(rank))
    throw InputError(
        fmt::format("output_shape has {} entries; there are {} spatial axes", wanted.size(), rank));
  for (std::int64_t e : wanted)
    if (e < 1 || e >= std::int64_t{1} << 31)
      throw InputError(fmt::format("output_shape [{}] is outside [1, 2^31)", fmt::join(wanted, ", ")));
  return wanted;
}

/// Fills out and the pads of a transposed window.
void transpose_output(const NodeView& view, Window& w, const std::vector<std::int64_t>& extra) {
  const auto wanted = requested_output(view, w.rank);
  const std::string mode = view.attributes().get_string("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (int i = 3 - w.rank; i < 3; ++i) {
    const int axis = i - 3 + w.rank;
    const std::int64_t full = w.stride[i] * (w.in[i] - 1) + extra[axis] + w.reach(i);
    if (!wanted.empty() || same) {
      w.out[i] = wanted.empty() ? w.in[i] * w.stride[i] : wanted[axis];
      const std::int64_t total = std::max<std::int64_t>(0, full - w.out[i]);
      w.pad_begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    } else {
      w.out[i] = full - w.pad_begin[i] - w.pad_end[i];
    }
    if (w.out[i] < 1)
      throw InputError(fmt::format("spatial axis {} of the output would have extent {}", axis, w.out[i]));
    w.pad_end[i] = w.stride[i] * (w.in[i] - 1) + w.reach(i) - w.out[i] - w.pad_begin[i];
  }
}

}  // namespace

ConvShape conv_shape(const NodeView& view) {
  const auto kernel = kernel_of(view);
  check_types(view);
  const Shape &x = view.shape(0), &w = view.shape(1);
  ConvShape s;
  s.batch = x[0];
  s.channels = x[-1];
  s.filters = w[0];
  s.groups = groups_of(view, s.channels);
  if (w[1] != s.channels_per_group())
    throw InputError(fmt::format("weight {} has {} channels a group; input {} in {} groups needs {}",
                                 w.to_string(), w[1], x.to_string(), s.groups, s.channels_per_group()));
  if (s.filters % s.groups != 0)
    throw InputError(fmt::format("group {} does not divide the {} filters of weight {}", s.groups, s.filters,
                                 w.to_string()));
  check_bias(view, s.filters);
  s.window = read_window(view.attributes(), kernel, spatial_extents(x));
  return s;
}

ConvShape conv_transpose_shape(const NodeView& view) {
  const auto kernel = kernel_of(view);
  check_types(view);
  const Shape &x = view.shape(0), &w = view.shape(1);
  ConvShape s;
  s.batch = x[0];
  s.channels = x[-1];
  s.groups = groups_of(view, s.channels);
  if (w[0] != s.channels)
    throw InputError(fmt::format("weight {} serves {} channels; input {} has {}", w.to_string(), w[0],
                                 x.to_string(), s.channels));
  s.filters = w[1] * s.groups;
  check_bias(view, s.filters);
  // the window's own checks, with an output extent that is replaced below
  Attributes a = view.attributes();
  const auto spatial = spatial_extents(x);
  const int rank = static_cast<int>(spatial.size());
  std::vector<std::int64_t> roomy = spatial;
  for (int i = 0; i < rank; ++i) roomy[i] = std::int64_t{1} << 62;
  const auto extra = read_extents(a, "output_padding", rank, 0, 0);
  s.window = read_window(a, kernel, roomy);
  if (const std::string mode = a.get_string("auto_pad", "NOTSET"); mode != "NOTSET" && !mode.empty())
    s.window.pad_begin = s.window.pad_end = {};
  std::copy(spatial.begin(), spatial.end(), s.window.in.end() - rank);
  transpose_output(view, s.window, extra);
  return s;
}

LayerCost conv_cost(const NodeView& view, const ConvShape& s, std::int64_t points) {
  LayerCost cost{};
  cost.flops = Flops(2.0 * double(s.batch) * double(points) * double(s.window.kernel_points()) *
                     double(s.channels_per_group()) * double(s.filters));
  for (const TensorType* t : view.inputs)
    if (t != nullptr) cost.bytes_read += Bytes(t->bytes());
  for (const TensorType* t : view.outputs)
    if (t != nullptr) cost.bytes_written += Bytes(t->bytes());
  return cost;
}

}  // namespace espalier
