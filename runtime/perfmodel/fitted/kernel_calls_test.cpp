#include "runtime/perfmodel/fitted/kernel_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "runtime/perfmodel/fitted/node_signature.hpp"
#include "runtime/task_graph/network_tasks.hpp"

namespace espalier::fitted {
namespace {

using testing::ElementsAre;

KernelCall only(const std::string& codelet, const std::string& signature) {
  const auto calls = kernel_calls(codelet, signature);
  EXPECT_TRUE(calls) << codelet << " " << signature;
  if (!calls) return {};
  EXPECT_EQ(calls->calls.size(), 1U);
  EXPECT_FALSE(calls->composed);
  return calls->calls[0];
}

const std::string kConv =
    "Conv [dilations=1,1 group=1 pads=1,1,1,1 strides=2,2] (float32 [8, 56, 28, 64], float32 [128, 64, 3, "
    "3], "
    "float32 [128]) -> (float32 [8, 28, 14, 128])";

TEST(KernelCalls, ConvolutionInAllDirections) {
  // H 56, W 28; out 28 x 14: (55 + 2 p) - 2 = 2 x 27 with p = 1/2, since the last pad is not reached
  const KernelCall forward = only("conv2d_forward", kConv);
  EXPECT_EQ(forward.kind, KernelKind::conv_forward);
  EXPECT_THAT(forward.problem, ElementsAre(28, 56, 64, 8, 128, 3, 3, 0.5, 0.5, 2, 2));
  // 2 x outputs x taps x channels = 2 x (8 x 28 x 14 x 128) x 9 x 64
  EXPECT_DOUBLE_EQ(flops_of(forward.kind, forward.problem), 2.0 * 8 * 28 * 14 * 128 * 9 * 64);
  EXPECT_EQ(only("conv2d_backward_input", kConv).kind, KernelKind::conv_backward_input);
  EXPECT_EQ(only("conv2d_backward_weight", kConv).kind, KernelKind::conv_backward_weight);
  EXPECT_EQ(only("conv2d_backward_weight", kConv).problem, forward.problem);
}

TEST(KernelCalls, APartHasItsShareOfTheFilters) {
  EXPECT_EQ(only("conv2d_forward", kConv + " part 1/4").problem[4], 32);
  EXPECT_EQ(only("conv2d_forward", kConv + " +Relu(0,0)").problem[4], 128);
}

TEST(KernelCalls, DilatedTapsCountAsTapsSideBySide) {
  const KernelCall call =
      only("conv2d_forward",
           "Conv [dilations=2,2 pads=2,2,2,2] (float32 [1, 16, 16, 4], float32 [8, 4, 3, 3]) -> (float32 [1, "
           "16, 16, 8])");
  EXPECT_THAT(call.problem, ElementsAre(18, 18, 4, 1, 8, 3, 3, 0, 0, 1, 1));
}

TEST(KernelCalls, OneAxisIsAWidth) {
  const KernelCall call =
      only("conv1d_forward", "Conv [] (float32 [2, 100, 3], float32 [5, 3, 7]) -> (float32 [2, 94, 5])");
  EXPECT_THAT(call.problem, ElementsAre(100, 1, 3, 2, 5, 1, 7, 0, 0, 1, 1));
}

TEST(KernelCalls, TransposedForwardsAsTheOtherGoesBack) {
  // 7 -> 14 with stride 2 and 2 taps: as a convolution 14 -> 7
  const std::string signature =
      "ConvTranspose [strides=2,2] (float32 [2, 7, 7, 16], float32 [16, 8, 2, 2]) -> (float32 [2, 14, 14, "
      "8])";
  const KernelCall forward = only("conv2d_transpose_forward", signature);
  EXPECT_EQ(forward.kind, KernelKind::conv_backward_input);
  EXPECT_THAT(forward.problem, ElementsAre(14, 14, 8, 2, 16, 2, 2, 0, 0, 2, 2));
  EXPECT_EQ(only("conv2d_transpose_backward_input", signature).kind, KernelKind::conv_forward);
}

TEST(KernelCalls, ProductsInColumnMajorOrder) {
  const std::string gemm =
      "Gemm [transB=1] (float32 [32, 2048], float32 [1000, 2048], float32 [1000]) -> (float32 [32, 1000])";
  EXPECT_THAT(only("gemm_forward", gemm).problem, ElementsAre(1000, 32, 2048, 1, 0));
  EXPECT_THAT(only("gemm_backward_input", gemm).problem, ElementsAre(2048, 32, 1000, 0, 0));
  EXPECT_THAT(only("gemm_backward_weight", gemm).problem, ElementsAre(2048, 1000, 32, 0, 1));
  const std::string matmul = "MatMul [] (float32 [4, 8, 64], float32 [64, 16]) -> (float32 [4, 8, 16])";
  EXPECT_THAT(only("mat_mul_forward", matmul).problem, ElementsAre(16, 32, 64, 0, 0));
  const auto batched = kernel_calls(
      "mat_mul_forward", "MatMul [] (float32 [4, 8, 64], float32 [4, 64, 16]) -> (float32 [4, 8, 16])");
  ASSERT_TRUE(batched);
  EXPECT_TRUE(batched->composed);
}

TEST(KernelCalls, RecurrentLayers) {
  const auto lstm = [](const char* codelet, int ins) {
    return kernel_calls(codelet, "LSTM [hidden_size=64] (float32 [10, 4, " + std::to_string(ins) +
                                     "], float32 [2, 256, " + std::to_string(ins) +
                                     "], float32 [2, 256, 64]) -> (float32 [10, 2, 4, 64])");
  };
  const auto square = lstm("lstm_forward", 64);
  ASSERT_TRUE(square);
  ASSERT_EQ(square->calls.size(), 1U);
  EXPECT_THAT(square->calls[0].problem, ElementsAre(1, 64, 4, 10));
  EXPECT_EQ(square->calls[0].times, 2);  // both directions
  const auto narrow = lstm("lstm_forward", 16);
  ASSERT_TRUE(narrow);
  EXPECT_TRUE(narrow->composed);
  ASSERT_EQ(narrow->calls.size(), 3U);
  EXPECT_EQ(narrow->calls[2].times, -2);
  const auto weight = lstm("lstm_backward_weight", 16);
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->calls[0].kind, KernelKind::gemm);
}

TEST(KernelCalls, NothingForWhatIsNoneOfThem) {
  EXPECT_FALSE(kernel_calls("relu_forward", "Relu [] (float32 [1, 8]) -> (float32 [1, 8])"));
  EXPECT_FALSE(kernel_calls("conv2d_backward", kConv));
  EXPECT_FALSE(kernel_calls("conv2d_forward", ""));
  EXPECT_FALSE(kernel_calls("conv2d_forward", kConv + "; " + kConv));
  EXPECT_FALSE(
      kernel_calls("conv2d_forward",
                   "Conv [group=8] (float32 [1, 8, 8, 8], float32 [8, 1, 3, 3]) -> (float32 [1, 6, 6, 8])"));
  EXPECT_FALSE(kernel_calls(
      "conv2d_forward", "Conv [] (float16 [1, 8, 8, 8], float16 [8, 8, 3, 3]) -> (float16 [1, 6, 6, 8])"));
  for (const char* text :
       {"Conv [] (float32 [1, 8", "Conv [] (float32 [1, 8, 8, 8]) -> (", "Conv", ") -> (",
        "Conv [] (float32 [1, -8, 8, 8], float32 [8, 8, 3, 3]) -> (float32 [1, 6, 6, 8])",
        "Conv [strides=0,0] (float32 [1, 8, 8, 8], float32 [8, 8, 3, 3]) -> (float32 [1, 6, "
        "6, 8])"})
    EXPECT_FALSE(kernel_calls("conv2d_forward", text)) << text;
}

TEST(KernelCalls, ReadsWhatNetworkTasksWrite) {
  Graph g;
  const ValueId x = g.add_value("x", TensorType{DType::f32, Shape{2, 9, 9, 3}});
  g.inputs = {x};
  Attributes attributes;
  attributes.set("pads", std::vector<std::int64_t>{0, 0, 1, 1});
  attributes.set("strides", std::vector<std::int64_t>{2, 2});
  const ValueId w = g.add_constant("w", Tensor(DType::f32, Shape{4, 3, 3, 3}));
  const ValueId y = g.add_node("Conv", "conv", {x, w}, {"y"}, std::move(attributes)).outputs[0];
  g.outputs = {y};
  NetworkUnits units;
  units.variants.push_back(std::make_shared<const Graph>(bind(g, all_layers(), {})));
  units.units = {0};
  const TaskGraph tasks = network_tasks(units, all_layers());
  const CostClassInfo& c = tasks.class_of(0);
  const KernelCall call = only(c.codelet, c.signature);
  EXPECT_EQ(call.kind, KernelKind::conv_forward);
  EXPECT_DOUBLE_EQ(flops_of(call.kind, call.problem), c.flops.value);
}

}  // namespace
}  // namespace espalier::fitted
