#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

// Channels last. DepthToSpace: [N, H, W, C] -> [N, H b, W b, C / b^2]; SpaceToDepth is its inverse (DCR).
namespace espalier {
namespace {

std::int64_t block_of(const NodeView& view) {
  const std::int64_t b = view.attributes().get_int("blocksize");
  if (b < 1 || b > (1 << 20)) throw InputError(fmt::format("blocksize is {}; it must be positive", b));
  if (view.shape(0).rank() != 4)
    throw InputError(
        fmt::format("input has shape {}; four axes [N, H, W, C] are needed", view.shape(0).to_string()));
  return b;
}

bool column_row_depth(const NodeView& view) {
  const std::string mode = view.attributes().get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    throw InputError(fmt::format("mode is \"{}\"; accepted are DCR, CRD", mode));
  return mode == "CRD";
}

std::vector<TensorType> infer_depth_to_space(const NodeView& view) {
  const std::int64_t b = block_of(view);
  const Shape& in = view.shape(0);
  column_row_depth(view);
  if (in[3] % (b * b) != 0)
    throw InputError(fmt::format("{} channels (channels-last shape {}) are no multiple of blocksize^2 = {}",
                                 in[3], in.to_string(), b * b));
  return {{view.inputs[0]->dtype, Shape{in[0], in[1] * b, in[2] * b, in[3] / (b * b)}}};
}

std::vector<TensorType> infer_space_to_depth(const NodeView& view) {
  const std::int64_t b = block_of(view);
  const Shape& in = view.shape(0);
  if (in[1] % b != 0 || in[2] % b != 0)
    throw InputError(fmt::format("extents {} x {} (channels-last shape {}) are no multiples of blocksize {}",
                                 in[1], in[2], in.to_string(), b));
  return {{view.inputs[0]->dtype, Shape{in[0], in[1] / b, in[2] / b, in[3] * b * b}}};
}

std::unique_ptr<Kernel> prepare_depth_to_space(const NodeView& view, PrepareContext&) {
  const std::int64_t b = block_of(view);
  const Shape& in = view.shape(0);
  const std::int64_t h = in[1], w = in[2], c = in[3] / (b * b);
  const bool crd = column_row_depth(view);
  const std::int64_t row = crd ? b : b * c, column = crd ? 1 : c, channel = crd ? b * b : 1;
  // output order: N, H, row in block, W, column in block, C
  StridedCopy copy{{in[0], h, b, w, b, c},
                   Shape{in[0], h, b, w, b, c}.strides(),
                   {h * w * in[3], w * in[3], row, in[3], column, channel},
                   0,
                   0,
                   size_of(view.inputs[0]->dtype)};
  return make_copy_kernel(view, {{0, 0, CopyPlan(std::move(copy))}});
}

std::unique_ptr<Kernel> prepare_depth_to_space_reference(const NodeView& view, PrepareContext&) {
  const std::int64_t b = block_of(view);
  const Shape in = view.shape(0);
  const bool crd = column_row_depth(view);
  return make_index_kernel(view, [b, in, crd](int, std::span<const std::int64_t> i) -> Source {
    const std::int64_t c = in[3] / (b * b);
    const std::int64_t block = i[1] % b * b + i[2] % b;
    const std::int64_t channel = crd ? i[3] * b * b + block : block * c + i[3];
    return {0, ((i[0] * in[1] + i[1] / b) * in[2] + i[2] / b) * in[3] + channel};
  });
}

std::unique_ptr<Kernel> prepare_space_to_depth(const NodeView& view, PrepareContext&) {
  const std::int64_t b = block_of(view);
  const Shape& in = view.shape(0);
  const std::int64_t h = in[1] / b, w = in[2] / b, c = in[3];
  // output order: N, H, W, row in block, column in block, C
  StridedCopy copy{{in[0], h, w, b, b, c},
                   Shape{in[0], h, w, b, b, c}.strides(),
                   {in[1] * in[2] * c, b * in[2] * c, b * c, in[2] * c, c, 1},
                   0,
                   0,
                   size_of(view.inputs[0]->dtype)};
  return make_copy_kernel(view, {{0, 0, CopyPlan(std::move(copy))}});
}

std::unique_ptr<Kernel> prepare_space_to_depth_reference(const NodeView& view, PrepareContext&) {
  const std::int64_t b = block_of(view);
  const Shape in = view.shape(0);
  return make_index_kernel(view, [b, in](int, std::span<const std::int64_t> i) -> Source {
    const std::int64_t block = i[3] / in[3];
    return {0, ((i[0] * in[1] + i[1] * b + block / b) * in[2] + i[2] * b + block % b) * in[3] + i[3] % in[3]};
  });
}

constexpr Implementation kDepthToSpace[] = {{"strided", never_refuses, prepare_depth_to_space},
                                            {"reference", never_refuses, prepare_depth_to_space_reference}};
constexpr Implementation kSpaceToDepth[] = {{"strided", never_refuses, prepare_space_to_depth},
                                            {"reference", never_refuses, prepare_space_to_depth_reference}};

}  // namespace

Layer depth_to_space_layer() {
  return {.op = "DepthToSpace",
          .summary = "moves channels into blocks of pixels (DCR, CRD)",
          .layout = LayoutRule::channels_last,
          .infer = infer_depth_to_space,
          .cost = movement_cost,
          .implementations = kDepthToSpace};
}

Layer space_to_depth_layer() {
  return {.op = "SpaceToDepth",
          .summary = "moves blocks of pixels into channels",
          .layout = LayoutRule::channels_last,
          .infer = infer_space_to_depth,
          .cost = movement_cost,
          .implementations = kSpaceToDepth};
}

}  // namespace espalier
