#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

/// Szegedy et al. 2016, arXiv:1512.00567, with torchvision's names and without the auxiliary classifier.
namespace espalier {
namespace {

class InceptionV3 {
 public:
  explicit InceptionV3(ParameterSource& parameters) : b_("inception_v3", parameters) {}

  Graph build() {
    ValueId x = b_.image(299);
    x = unit(x, "Conv2d_1a_3x3", {.out = 32, .kernel = 3, .stride = 2});
    x = unit(x, "Conv2d_2a_3x3", {.out = 32, .kernel = 3});
    x = unit(x, "Conv2d_2b_3x3", {.out = 64, .kernel = 3, .pad = 1});
    x = b_.max_pool(x, {.kernel = 3, .stride = 2});
    x = unit(x, "Conv2d_3b_1x1", {.out = 80});
    x = unit(x, "Conv2d_4a_3x3", {.out = 192, .kernel = 3});
    x = b_.max_pool(x, {.kernel = 3, .stride = 2});
    x = module_a(x, "Mixed_5b.", 32);
    x = module_a(x, "Mixed_5c.", 64);
    x = module_a(x, "Mixed_5d.", 64);
    x = module_b(x, "Mixed_6a.");
    x = module_c(x, "Mixed_6b.", 128);
    x = module_c(x, "Mixed_6c.", 160);
    x = module_c(x, "Mixed_6d.", 160);
    x = module_c(x, "Mixed_6e.", 192);
    x = module_d(x, "Mixed_7a.");
    x = module_e(x, "Mixed_7b.");
    x = module_e(x, "Mixed_7c.");
    return b_.finish(b_.classifier(b_.flatten_pooled(b_.global_average_pool(x)), "fc"));
  }

 private:
  ValueId unit(ValueId x, const std::string& prefix, const ConvSpec& spec) {
    return b_.relu(b_.batch_norm(b_.conv(x, prefix + ".conv", spec), prefix + ".bn", 1e-3));
  }
  ValueId three(ValueId x, const std::string& prefix, std::int64_t out, std::int64_t stride = 1) {
    return unit(x, prefix, {.out = out, .kernel = 3, .stride = stride, .pad = stride == 1 ? 1 : 0});
  }
  /// 1 x k and k x 1 kernels.
  ValueId wide(ValueId x, const std::string& prefix, std::int64_t out, std::int64_t k) {
    return unit(x, prefix, {.out = out, .kernel = 1, .kernel_w = k, .pad = 0, .pad_w = k / 2});
  }
  ValueId tall(ValueId x, const std::string& prefix, std::int64_t out, std::int64_t k) {
    return unit(x, prefix, {.out = out, .kernel = k, .kernel_w = 1, .pad = k / 2, .pad_w = 0});
  }
  ValueId pooled(ValueId x, const std::string& prefix, std::int64_t out) {
    return unit(b_.average_pool(x, {.kernel = 3, .stride = 1, .pad = 1}), prefix + "branch_pool",
                {.out = out});
  }
  ValueId shrunk(ValueId x) { return b_.max_pool(x, {.kernel = 3, .stride = 2}); }

  ValueId module_a(ValueId x, const std::string& p, std::int64_t pool) {
    const ValueId one = unit(x, p + "branch1x1", {.out = 64});
    ValueId five = unit(x, p + "branch5x5_1", {.out = 48});
    five = unit(five, p + "branch5x5_2", {.out = 64, .kernel = 5, .pad = 2});
    ValueId twice = unit(x, p + "branch3x3dbl_1", {.out = 64});
    twice = three(three(twice, p + "branch3x3dbl_2", 96), p + "branch3x3dbl_3", 96);
    return b_.concat({one, five, twice, pooled(x, p, pool)});
  }
  ValueId module_b(ValueId x, const std::string& p) {
    const ValueId once = three(x, p + "branch3x3", 384, 2);
    ValueId twice = unit(x, p + "branch3x3dbl_1", {.out = 64});
    twice = three(three(twice, p + "branch3x3dbl_2", 96), p + "branch3x3dbl_3", 96, 2);
    return b_.concat({once, twice, shrunk(x)});
  }
  ValueId module_c(ValueId x, const std::string& p, std::int64_t c) {
    const ValueId one = unit(x, p + "branch1x1", {.out = 192});
    ValueId once = unit(x, p + "branch7x7_1", {.out = c});
    once = tall(wide(once, p + "branch7x7_2", c, 7), p + "branch7x7_3", 192, 7);
    ValueId twice = unit(x, p + "branch7x7dbl_1", {.out = c});
    twice = wide(tall(twice, p + "branch7x7dbl_2", c, 7), p + "branch7x7dbl_3", c, 7);
    twice = wide(tall(twice, p + "branch7x7dbl_4", c, 7), p + "branch7x7dbl_5", 192, 7);
    return b_.concat({one, once, twice, pooled(x, p, 192)});
  }
  ValueId module_d(ValueId x, const std::string& p) {
    const ValueId once = three(unit(x, p + "branch3x3_1", {.out = 192}), p + "branch3x3_2", 320, 2);
    ValueId seven = unit(x, p + "branch7x7x3_1", {.out = 192});
    seven = tall(wide(seven, p + "branch7x7x3_2", 192, 7), p + "branch7x7x3_3", 192, 7);
    seven = three(seven, p + "branch7x7x3_4", 192, 2);
    return b_.concat({once, seven, shrunk(x)});
  }
  ValueId module_e(ValueId x, const std::string& p) {
    const ValueId one = unit(x, p + "branch1x1", {.out = 320});
    const ValueId once = unit(x, p + "branch3x3_1", {.out = 384});
    const ValueId once_a = wide(once, p + "branch3x3_2a", 384, 3);
    const ValueId once_b = tall(once, p + "branch3x3_2b", 384, 3);
    const ValueId twice = three(unit(x, p + "branch3x3dbl_1", {.out = 448}), p + "branch3x3dbl_2", 384);
    const ValueId twice_a = wide(twice, p + "branch3x3dbl_3a", 384, 3);
    const ValueId twice_b = tall(twice, p + "branch3x3dbl_3b", 384, 3);
    const ValueId pool = pooled(x, p, 192);
    return b_.concat({one, once_a, once_b, twice_a, twice_b, pool});
  }

  NetworkBuilder b_;
};

}  // namespace

Graph build_inception_v3(ParameterSource& parameters) {
  parameters.ignore("AuxLogits.");
  return InceptionV3(parameters).build();
}

}  // namespace espalier
