#include "layers/movement/resize_taps.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr const char* kTransformations[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
constexpr const char* kModes[] = {"nearest", "linear", "cubic"};
constexpr const char* kPolicies[] = {"stretch", "not_larger", "not_smaller"};

template <std::size_t N>
std::string choice(const NodeView& view, const char* name, const char* const (&accepted)[N]) {
  const std::string value = view.attributes().get_string(name, accepted[0]);
  std::string list;
  for (const char* a : accepted) {
    if (value == a) return value;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", a);
  }
  throw InputError(fmt::format("{} is \"{}\"; accepted are {}", name, value, list));
}

/// Scale, roi and extents of each axis of the input.
struct Request {
  std::vector<double> scale, roi_start, roi_end;
  std::vector<std::int64_t> out;
};

bool given(const NodeView& view, std::size_t i) {
  return view.has_input(i) && view.inputs[i]->shape.elements() != 0;
}

std::vector<int> axes_of(const NodeView& view) {
  const int rank = view.shape(0).rank();
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (!view.attributes().has("axes")) return axes;
  axes.clear();
  for (std::int64_t a : view.attributes().get_ints("axes")) {
    axes.push_back(normalise_axis(a, rank, "axes entry"));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1)
      throw InputError(fmt::format("axes names axis {} twice", axes.back()));
  }
  return axes;
}

void require_count(std::size_t got, std::size_t needed, const char* what, const NodeView& view) {
  if (got != needed)
    throw InputError(fmt::format("{} has {} entries; {} are needed for an input of shape {}", what, got,
                                 needed, view.shape(0).to_string()));
}

void apply_scales(const NodeView& view, const std::vector<int>& axes, Request& request) {
  const std::vector<double> scales = view.constant(2, "scales").to_double();
  require_count(scales.size(), axes.size(), "scales", view);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto a = static_cast<std::size_t>(axes[k]);
    const auto extent = static_cast<float>(view.shape(0)[axes[k]]);
    if (!(scales[k] > 0) || !(scales[k] * static_cast<double>(extent) < 2147483648.0))
      throw InputError(
          fmt::format("scale {} of axis {} is not a usable positive number", scales[k], axes[k]));
    request.scale[a] = scales[k];
    request.out[a] = static_cast<std::int64_t>(std::floor(extent * static_cast<float>(scales[k])));
  }
}

void apply_sizes(const NodeView& view, const std::vector<int>& axes, Request& request) {
  std::vector<std::int64_t> sizes = view.constant(3, "sizes").to_int64();
  require_count(sizes.size(), axes.size(), "sizes", view);
  const std::string policy = choice(view, "keep_aspect_ratio_policy", kPolicies);
  double common = policy == "not_larger" ? 1e300 : 0;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::int64_t n = view.shape(0)[axes[k]];
    if (sizes[k] < 0 || (n == 0) != (sizes[k] == 0))
      throw InputError(fmt::format("size {} of axis {} cannot be made from shape {}", sizes[k], axes[k],
                                   view.shape(0).to_string()));
    const double scale = n == 0 ? 1 : static_cast<double>(sizes[k]) / static_cast<double>(n);
    request.scale[static_cast<std::size_t>(axes[k])] = scale;
    request.out[static_cast<std::size_t>(axes[k])] = sizes[k];
    common = policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  if (policy == "stretch") return;
  for (int axis : axes) {
    const auto a = static_cast<std::size_t>(axis);
    request.out[a] =
        static_cast<std::int64_t>(std::floor(common * static_cast<double>(view.shape(0)[axis]) + 0.5));
    request.scale[a] = common;
  }
}

Request request_of(const NodeView& view) {
  const auto rank = static_cast<std::size_t>(view.shape(0).rank());
  Request request{std::vector<double>(rank, 1), std::vector<double>(rank, 0), std::vector<double>(rank, 1),
                  view.shape(0).dims()};
  const std::vector<int> axes = axes_of(view);
  if (given(view, 2) == given(view, 3))
    throw InputError("exactly one of the inputs scales and sizes must be given");
  if (given(view, 2))
    apply_scales(view, axes, request);
  else
    apply_sizes(view, axes, request);
  if (view.attributes().get_string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize") {
    if (!given(view, 1)) throw InputError("tf_crop_and_resize needs the input roi");
    const std::vector<double> roi = view.constant(1, "roi").to_double();
    require_count(roi.size(), 2 * axes.size(), "roi", view);
    for (std::size_t k = 0; k < axes.size(); ++k) {
      request.roi_start[static_cast<std::size_t>(axes[k])] = roi[k];
      request.roi_end[static_cast<std::size_t>(axes[k])] = roi[k + axes.size()];
    }
  }
  return request;
}

/// Position in the source of output position j, before clamping; rounded to float so that a scale that is
/// itself a rounded float hits the grid points it means.
double source_coordinate(const std::string& mode, double j, double scale, double in, double out,
                         double roi_start, double roi_end) {
  double x = (j + 0.5) / scale - 0.5;
  if (mode == "asymmetric") {
    x = j / scale;
  } else if (mode == "tf_half_pixel_for_nn") {
    x = (j + 0.5) / scale;
  } else if (mode == "pytorch_half_pixel") {
    if (out <= 1) x = 0;
  } else if (mode == "align_corners") {
    const double resized = scale * in;
    x = out <= 1 || resized <= 1 ? 0 : j * (in - 1) / (resized - 1);
  } else if (mode == "half_pixel_symmetric") {
    x += in / 2 * (1 - out / (scale * in));
  } else if (mode == "tf_crop_and_resize") {
    x = out > 1 ? roi_start * (in - 1) + j * (roi_end - roi_start) * (in - 1) / (out - 1)
                : 0.5 * (roi_start + roi_end) * (in - 1);
  }
  return static_cast<double>(static_cast<float>(x));
}

double nearest_position(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double cubic_weight(double t, double a) {
  t = std::abs(t);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

class TapMaker {
 public:
  explicit TapMaker(const NodeView& view)
      : mode_(choice(view, "mode", kModes)),
        transformation_(choice(view, "coordinate_transformation_mode", kTransformations)),
        nearest_(choice(view, "nearest_mode", kNearest)),
        antialias_(view.attributes().get_int("antialias", 0) != 0),
        exclude_outside_(view.attributes().get_int("exclude_outside", 0) != 0),
        cubic_a_(view.attributes().get_float("cubic_coeff_a", -0.75)) {}

  AxisTaps make(std::int64_t in, std::int64_t out, double scale, double roi_start, double roi_end) const {
    AxisTaps axis{in, out, 1, {}, {}, std::vector<bool>(static_cast<std::size_t>(out), false), false};
    const double stretch = antialias_ && mode_ != "nearest" ? std::min(scale, 1.0) : 1.0;
    int first = 0;
    if (mode_ != "nearest") {
      const double support = mode_ == "linear" ? 1 : 2;
      first = static_cast<int>(std::floor(-support / stretch)) + 1;
      axis.taps = 2 - 2 * first;
    }
    for (std::int64_t j = 0; j < out; ++j) {
      const double x =
          source_coordinate(transformation_, static_cast<double>(j), scale, static_cast<double>(in),
                            static_cast<double>(out), roi_start, roi_end);
      if (transformation_ == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(in - 1)))
        axis.outside[static_cast<std::size_t>(j)] = true;
      if (mode_ == "nearest")
        add(axis, nearest_position(nearest_, x), 1);
      else
        add_weighted(axis, x, first, stretch);
    }
    axis.identity = in == out;
    for (std::size_t i = 0; i < axis.index.size(); ++i) {
      const auto j = static_cast<std::int64_t>(i) / axis.taps;
      if (axis.weight[i] != (axis.index[i] == j ? 1.0 : 0.0)) axis.identity = false;
      if (axis.outside[static_cast<std::size_t>(j)]) axis.identity = false;
    }
    return axis;
  }

 private:
  static void add(AxisTaps& axis, double position, double weight) {
    const double last = static_cast<double>(axis.in - 1);
    axis.index.push_back(static_cast<std::int64_t>(std::clamp(position, 0.0, last)));
    axis.weight.push_back(weight);
  }

  void add_weighted(AxisTaps& axis, double x, int first, double stretch) const {
    const double base = std::floor(x);
    const double last = static_cast<double>(axis.in - 1);
    std::vector<double> weights;
    double sum = 0;
    for (int k = first; k < first + axis.taps; ++k) {
      const double t = (k - (x - base)) * stretch;
      double w = mode_ == "linear" ? std::max(0.0, 1 - std::abs(t)) : cubic_weight(t, cubic_a_);
      if (exclude_outside_ && (base + k < 0 || base + k > last)) w = 0;
      weights.push_back(w);
      sum += w;
    }
    const bool normalise = (exclude_outside_ || antialias_) && sum != 0;
    for (int k = 0; k < axis.taps; ++k) {
      const double w = weights[static_cast<std::size_t>(k)];
      add(axis, base + first + k, normalise ? w / sum : w);
    }
  }

  std::string mode_, transformation_, nearest_;
  bool antialias_, exclude_outside_;
  double cubic_a_;
};

}  // namespace

Shape resized_shape(const NodeView& view) {
  choice(view, "mode", kModes);
  choice(view, "coordinate_transformation_mode", kTransformations);
  choice(view, "nearest_mode", kNearest);
  return Shape(request_of(view).out);
}

ResizePlan plan_resize(const NodeView& view) {
  const Request request = request_of(view);
  const TapMaker maker(view);
  ResizePlan plan{Shape(request.out),
                  {},
                  view.attributes().get_string("mode", "nearest") == "nearest",
                  view.attributes().get_float("extrapolation_value", 0),
                  false};
  for (std::size_t a = 0; a < request.out.size(); ++a) {
    plan.axes.push_back(maker.make(view.shape(0).dims()[a], request.out[a], request.scale[a],
                                   request.roi_start[a], request.roi_end[a]));
    for (bool outside : plan.axes.back().outside) plan.extrapolates = plan.extrapolates || outside;
  }
  return plan;
}

}  // namespace espalier
