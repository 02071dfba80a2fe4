#include "graphs/networks/network_list.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;

/// Counts trained parameters as publications do: without the running statistics of normalisation.
class Counter final : public ParameterSource {
 public:
  explicit Counter(std::int64_t classes = 0, std::string marker = "")
      : classes_(classes), marker_(std::move(marker)) {}
  Tensor get(const std::string& parameter, const Shape& shape, double gain) override {
    EXPECT_TRUE(shapes.emplace(parameter, shape).second) << parameter << " is asked for twice";
    if (!parameter.ends_with("running_mean") && !parameter.ends_with("running_var"))
      trained += shape.elements();
    return zeros_->get(parameter, shape, gain);
  }
  std::int64_t classes(const std::string&) override { return classes_; }
  bool has(const std::string& parameter) const override { return parameter == marker_; }

  std::map<std::string, Shape> shapes;
  std::int64_t trained = 0;

 private:
  std::int64_t classes_;
  std::string marker_;
  std::unique_ptr<ParameterSource> zeros_ = placeholder_parameters();
};

TEST(Networks, HaveThePublishedNumberOfParameters) {
  // torchvision's and timm's tables; googlenet and inception_v3 without auxiliary classifiers. lstm: two
  // layers of 4 x 650 x (650 + 650 + 2), words 10,000 x 650 twice, and 10,000 biases.
  const std::map<std::string, std::int64_t> published{
      {"alexnet", 61'100'840},
      {"vgg16", 138'357'544},
      {"resnet18", 11'689'512},
      {"resnet34", 21'797'672},
      {"resnet50", 25'557'032},
      {"resnet101", 44'549'160},
      {"resnet152", 60'192'808},
      {"googlenet", 6'624'904},
      {"inception_v3", 23'834'568},
      {"mobilenet_v2", 3'504'872},
      {"efficientnet_b0", 5'288'548},
      {"efficientnet_lite0", 4'652'008},
      {"densenet121", 7'978'856},
      {"squeezenet1_0", 1'248'424},
      {"tf_efficientnet_lite0", 4'652'008},
      {"lstm", 2 * 4 * 650 * (650 + 650 + 2) + 2 * 10'000 * 650 + 10'000}};
  EXPECT_EQ(all_networks().size(), published.size());
  for (const NetworkEntry& entry : all_networks()) {
    Counter counter;
    const Graph graph = entry.build(counter);
    EXPECT_EQ(counter.trained, published.at(std::string(entry.name))) << entry.name;
    EXPECT_EQ(graph.name, entry.name);
    ASSERT_EQ(graph.inputs.size(), 1U);
    EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.inputs[0])].name, "input");
    EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs.at(0))].name, "output");
    const Shape& shape = graph.type(graph.inputs[0]).shape;
    if (entry.image_size > 0) {
      EXPECT_EQ(shape, (Shape{Shape::kDynamic, entry.image_size, entry.image_size, 3}));
    }
  }
}

TEST(Networks, ClassesFollowTheFinalLayer) {
  // Pl@ntNet-300K has 1081 species: 81 more rows of 512 weights and a bias than ImageNet's 1000
  Counter counter(1081);
  network_named("resnet18").build(counter);
  EXPECT_EQ(counter.trained, 11'689'512 + 81 * 513);
  EXPECT_EQ(counter.shapes.at("fc.weight"), (Shape{1081, 512}));
}

TEST(Networks, NamingSchemesAreToldApart) {
  Counter old(0, "features.denseblock1.denselayer1.norm.1.weight");
  network_named("densenet121").build(old);
  EXPECT_EQ(old.trained, 7'978'856);
  EXPECT_EQ(old.shapes.count("features.denseblock4.denselayer16.conv.2.weight"), 1U);
  EXPECT_EQ(old.shapes.count("features.transition3.norm.weight"), 1U);
  Counter lite(0, "_conv_stem.weight");
  network_named("efficientnet_lite0").build(lite);
  EXPECT_EQ(lite.trained, 4'652'008);
  EXPECT_EQ(lite.shapes.at("_blocks.15._project_conv.weight"), (Shape{320, 1152, 1, 1}));
  EXPECT_EQ(lite.shapes.at("_fc.weight"), (Shape{1000, 1280}));
}

/// Weights of a network as a file would hold them.
Weights weights_of(const char* network) {
  Counter counter;
  network_named(network).build(counter);
  Weights weights{"w.pth", {}};
  for (const auto& [name, shape] : counter.shapes) weights.tensors.emplace(name, Tensor(DType::f32, shape));
  return weights;
}

std::string error_of(const char* network, Weights weights) {
  try {
    network_named(network).build(*parameters_from(std::move(weights)));
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Networks, WrongWeightsNameTheParameter) {
  Weights weights = weights_of("squeezenet1_0");
  EXPECT_EQ(error_of("squeezenet1_0", weights), "accepted");
  Weights missing = weights;
  missing.tensors.erase("features.3.squeeze.bias");
  missing.tensors.emplace("features.3.squeeze.offset", Tensor(DType::f32, Shape{16}));
  EXPECT_THAT(error_of("squeezenet1_0", missing),
              HasSubstr("w.pth: parameter features.3.squeeze.bias [16] is missing"));
  Weights wrong = weights;
  wrong.tensors["features.0.weight"] = Tensor(DType::f32, Shape{64, 3, 3, 3});
  EXPECT_THAT(error_of("squeezenet1_0", wrong),
              HasSubstr("features.0.weight has shape [64, 3, 3, 3], the network needs [96, 3, 7, 7]"));
  Weights integers = weights;
  integers.tensors["features.0.bias"] = Tensor(DType::i64, Shape{96});
  EXPECT_THAT(error_of("squeezenet1_0", integers),
              HasSubstr("features.0.bias is of int64; a float is needed"));
  EXPECT_THAT(error_of("resnet18", weights),
              HasSubstr("conv1.weight [64, 3, 7, 7] is missing; the file has"));
  EXPECT_THROW(network_named("resnet51"), InputError);
}

TEST(Networks, LeftOverParametersAreListed) {
  Weights weights = weights_of("googlenet");
  weights.tensors.emplace("aux1.fc1.weight", Tensor(DType::f32, Shape{2}));
  weights.tensors.emplace("conv1.bn.num_batches_tracked", Tensor(DType::i64, Shape{}));
  weights.tensors.emplace("ema.decay", Tensor(DType::f32, Shape{}));
  const auto source = parameters_from(std::move(weights));
  network_named("googlenet").build(*source);
  EXPECT_THAT(source->unused(), testing::ElementsAre("ema.decay"));
}

TEST(Networks, HalfPrecisionWeightsBecomeSingle) {
  Weights weights = weights_of("squeezenet1_0");
  Tensor half(DType::f16, Shape{96});
  for (auto* p = static_cast<std::uint16_t*>(half.mutable_data());
       p != static_cast<std::uint16_t*>(half.mutable_data()) + 96; ++p)
    *p = f32_to_f16(0.5F);
  weights.tensors["features.0.bias"] = half;
  const Graph graph = network_named("squeezenet1_0").build(*parameters_from(std::move(weights)));
  for (const Value& v : graph.values)
    if (v.name == "features.0.bias") {
      EXPECT_EQ(v.constant->as<float>()[95], 0.5F);
    }
}

TEST(RandomParameters, DependOnSeedAndNameAlone) {
  const auto a = random_parameters(7), b = random_parameters(7), c = random_parameters(8);
  const Shape shape{64, 16, 3, 3};
  const Tensor first = a->get("x.weight", shape);
  b->get("y.weight", shape);
  const Tensor again = b->get("x.weight", shape);
  EXPECT_TRUE(std::equal(first.as<float>().begin(), first.as<float>().end(), again.as<float>().begin()));
  EXPECT_NE(first.as<float>()[0], c->get("x.weight", shape).as<float>()[0]);
  EXPECT_NE(first.as<float>()[0], a->get("z.weight", shape).as<float>()[0]);
  // variance 2 / fan_in = 2 / 144; the mean of n = 9216 values is within 5 of its deviations
  double sum = 0, squares = 0;
  for (float v : first.as<float>()) sum += v, squares += static_cast<double>(v) * v;
  EXPECT_NEAR(squares / 9216, 2.0 / 144, 0.1 * 2.0 / 144);
  EXPECT_NEAR(sum / 9216, 0, 5 * std::sqrt(2.0 / 144 / 9216));
}

}  // namespace
}  // namespace espalier
