#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"
#include "layers/norm/norm.hpp"

// LpNormalization and MeanVarianceNormalization: statistics over some axes, then one operation an element.
namespace espalier {
namespace {

bool is_lp(const NodeView& view) {
  return view.op() == "LpNormalization";
}

std::vector<bool> reduced_axes(const NodeView& view) {
  const int rank = view.shape(0).rank();
  std::vector<bool> reduced(static_cast<std::size_t>(rank), false);
  std::vector<std::int64_t> axes;
  if (is_lp(view))
    axes = {view.attributes().get_int("axis", -1)};
  else
    axes = view.attributes().get_ints("axes", {0, 2, 3});
  for (std::int64_t a : axes) reduced[static_cast<std::size_t>(normalise_axis(a, rank, "axes entry"))] = true;
  return reduced;
}

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  reduced_axes(view);
  const std::int64_t p = view.attributes().get_int("p", 2);
  if (is_lp(view) && p != 1 && p != 2) throw InputError(fmt::format("p is {}; accepted are 1, 2", p));
  return {*view.inputs[0]};
}

/// Statistics of all groups in the scratch: element i belongs to the group with offset sum over the kept
/// axes.
template <class T>
class ReducedKernel final : public Kernel {
 public:
  explicit ReducedKernel(const NodeView& view)
      : lp_(is_lp(view)), p_(view.attributes().get_int("p", 2)), shape_(view.shape(0)) {
    const std::vector<bool> reduced = reduced_axes(view);
    group_strides_.assign(reduced.size(), 0);
    for (std::size_t a = reduced.size(); a-- > 0;) {
      if (reduced[a]) {
        members_ *= static_cast<double>(shape_.dims()[a]);
        continue;
      }
      group_strides_[a] = groups_;
      groups_ *= shape_.dims()[a];
    }
  }
  bool in_place() const override { return true; }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(2 * groups_) * sizeof(double);
  }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const T*>(arguments.inputs[0]);
    auto* y = static_cast<T*>(arguments.outputs[0]);
    auto* first = static_cast<double*>(arguments.scratch);
    double* second = first + groups_;
    std::fill(first, second + groups_, 0.0);
    const auto value = [&](std::int64_t i) { return static_cast<double>(Compute<T>(x[i])); };
    if (lp_) {
      walk([&](std::int64_t i, std::int64_t g) {
        first[g] += p_ == 1 ? std::abs(value(i)) : value(i) * value(i);
      });
      for (std::int64_t g = 0; g < groups_; ++g) first[g] = p_ == 1 ? first[g] : std::sqrt(first[g]);
      walk([&](std::int64_t i, std::int64_t g) {
        y[i] = convert_element<T>(first[g] == 0 ? 0.0 : value(i) / first[g]);
      });
      return;
    }
    walk([&](std::int64_t i, std::int64_t g) { first[g] += value(i) / members_; });
    walk([&](std::int64_t i, std::int64_t g) {
      second[g] += (value(i) - first[g]) * (value(i) - first[g]) / members_;
    });
    for (std::int64_t g = 0; g < groups_; ++g) second[g] = std::sqrt(second[g]) + 1e-9;
    walk([&](std::int64_t i, std::int64_t g) {
      y[i] = convert_element<T>((value(i) - first[g]) / second[g]);
    });
  }

 private:
  template <class F>
  void walk(F&& f) const {
    std::int64_t element = 0;
    if (shape_.rank() > 0) walk_axis(0, element, 0, f);
  }
  template <class F>
  void walk_axis(int axis, std::int64_t& element, std::int64_t group, F& f) const {
    const std::int64_t stride = group_strides_[static_cast<std::size_t>(axis)];
    for (std::int64_t i = 0; i < shape_[axis]; ++i)
      if (axis + 1 == shape_.rank())
        f(element++, group + i * stride);
      else
        walk_axis(axis + 1, element, group + i * stride, f);
  }

  bool lp_;
  std::int64_t p_;
  Shape shape_;
  std::vector<std::int64_t> group_strides_;
  std::int64_t groups_ = 1;
  double members_ = 1;
};

std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReducedKernel<typename decltype(tag)::type>>(view);
  });
}

std::optional<std::vector<int>> permute(Graph&, Node& node, std::span<const int> perm) {
  const auto rank = static_cast<int>(perm.size());
  const std::vector<int> inverse = inverse_permutation(perm);
  const auto moved = [&](std::int64_t a) {
    return std::int64_t{inverse[static_cast<std::size_t>(normalise_axis(a, rank))]};
  };
  if (node.op == "LpNormalization") {
    node.attributes.set("axis", moved(node.attributes.get_int("axis", -1)));
  } else {
    std::vector<std::int64_t> axes = node.attributes.get_ints("axes", {0, 2, 3});
    for (std::int64_t& a : axes) a = moved(a);
    node.attributes.set("axes", axes);
  }
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); }, prepare}};

Layer layer(std::string_view op, std::string_view summary) {
  return {.op = op,
          .summary = summary,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = [](const NodeView& view) { return norm_cost(view, 6); },
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace

Layer lp_normalization_layer() {
  return layer("LpNormalization", "divides by the 1- or 2-norm along an axis");
}

Layer mean_variance_normalization_layer() {
  return layer("MeanVarianceNormalization", "subtracts the mean and divides by the deviation over axes");
}

}  // namespace espalier
