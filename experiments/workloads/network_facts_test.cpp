#include <algorithm>
#include <gtest/gtest.h>
#include <map>

#include "experiments/workloads/graph_source.hpp"
#include "experiments/workloads/inspect.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

Graph bound(std::string_view name, std::int64_t batch) {
  Binding binding;
  binding.batch = batch;
  return bind(load_network(name, all_layers()).graph, all_layers(), binding);
}

TEST(NetworkFacts, MultiplyAddsAreThePublishedOnes) {
  // 10^9 multiply-adds of convolutions and dense layers for one image, from torchvision's table of weights
  // (lite0: B0's 0.386 less its gates); a multiply-add is two operations here
  const std::map<std::string, double> published{{"alexnet", 0.71},         {"vgg16", 15.47},
                                                {"resnet18", 1.81},        {"resnet34", 3.66},
                                                {"resnet50", 4.09},        {"resnet101", 7.80},
                                                {"resnet152", 11.51},      {"googlenet", 1.50},
                                                {"inception_v3", 5.71},    {"mobilenet_v2", 0.30},
                                                {"efficientnet_b0", 0.39}, {"densenet121", 2.83},
                                                {"squeezenet1_0", 0.82},   {"tf_efficientnet_lite0", 0.385}};
  for (const auto& [name, expected] : published) {
    const GraphFacts facts = inspect_graph(bound(name, 1), all_layers(), {});
    double sum = 0;
    for (const OperatorFacts& f : facts.operators)
      if (f.op == "Conv" || f.op == "Gemm") sum += f.flops.value / 2;
    EXPECT_NEAR(sum / 1e9, expected, 0.0051 + 0.01 * expected) << name;
  }
}

TEST(NetworkFacts, OutputsAreLogitsOfEachImage) {
  for (const NetworkEntry& entry : all_networks()) {
    const Graph graph = bound(entry.name, 3);
    const Shape expected = entry.image_size > 0 ? Shape{3, 1000} : Shape{3, 35, 10'000};
    EXPECT_EQ(graph.type(graph.outputs.at(0)), (TensorType{DType::f32, expected})) << entry.name;
  }
}

TEST(NetworkFacts, TotalsAreSumsAndHalfTheTimeIsMarked) {
  const GraphFacts facts = inspect_graph(bound("resnet50", 4), all_layers(), {});
  EXPECT_EQ(facts.parameters, 25'557'032);
  double flops = 0, share = 0, marked = 0, largest_unmarked = 0, smallest_marked = 1;
  for (const OperatorFacts& f : facts.operators) {
    flops += f.flops.value;
    share += f.share;
    if (f.bottleneck) marked += f.share;
    (f.bottleneck ? smallest_marked : largest_unmarked) =
        f.bottleneck ? std::min(smallest_marked, f.share) : std::max(largest_unmarked, f.share);
  }
  EXPECT_DOUBLE_EQ(flops, facts.flops.value);
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GE(marked, 0.5);
  EXPECT_GE(smallest_marked, largest_unmarked);
}

TEST(NetworkFacts, PassesKeepTheConvolutionsWork) {
  Graph graph = bound("resnet18", 1);
  const GraphFacts before = inspect_graph(graph, all_layers(), {});
  optimise(graph, all_layers());
  const GraphFacts after = inspect_graph(graph, all_layers(), {});
  EXPECT_LT(after.operators.size(), before.operators.size());
  EXPECT_LT(after.bytes, before.bytes);
}

}  // namespace
}  // namespace espalier
