#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/onnx_model.hpp"

/// Models that strangers may send: each is refused by a message that names the node or the value, nothing
/// large is allocated on the way.
namespace espalier {
namespace {

using test::OnnxModel;
using ::testing::HasSubstr;

constexpr std::int64_t kHuge = std::int64_t{1} << 40;

std::string refusal(const std::string& bytes) {
  try {
    Binding binding;
    binding.batch = 1;
    bind(import_onnx_bytes(bytes, "m.onnx", all_layers()), all_layers(), binding);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

/// image [N, 3, 16, 16] -> Conv "c_Conv" with one attribute -> scores.
std::string conv_with(const std::string& attribute, const std::vector<std::int64_t>& values) {
  OnnxModel m;
  m.input("image", {-1, 3, 16, 16});
  m.floats("w", {2, 3, 3, 3}, std::vector<float>(54, 1));
  auto& conv = m.node("Conv", {"image", "w"}, {"c"});
  if (attribute == "group")
    test::set_int(conv, attribute, values[0]);
  else
    test::set_ints(conv, attribute, values);
  m.node("GlobalAveragePool", {"c"}, {"scores"});
  m.output("scores");
  return m.bytes();
}

TEST(HostileModels, AttributesOfAConvolutionAreChecked) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> cases = {
      {"strides", {0, 1}},
      {"strides", {-1, -1}},
      {"strides", {1}},
      {"dilations", {0, 0}},
      {"dilations", {kHuge, kHuge}},
      {"pads", {-5, -5, -5, -5}},
      {"pads", {1, 1}},
      {"pads", {kHuge, kHuge, 0, 0}},
      {"group", {0}},
      {"group", {-1}},
      {"group", {2}},
      {"group", {kHuge}},
      {"kernel_shape", {5, 5}},
      {"pads", {std::numeric_limits<std::int64_t>::max(), 0, 0, 0}}};
  for (const auto& [attribute, values] : cases)
    EXPECT_THAT(refusal(conv_with(attribute, values)), HasSubstr("c_Conv"))
        << attribute << " " << ::testing::PrintToString(values);
}

/// One operator "y_OP" on image [N, 3, 16, 16] with a constant list of integers as its second input.
std::string op_with(const std::string& op, const std::vector<std::int64_t>& values) {
  OnnxModel m;
  m.input("image", {-1, 3, 16, 16});
  m.ints("list", values);
  m.node(op, {"image", "list"}, {"y"});
  m.output("y");
  return m.bytes();
}

TEST(HostileModels, ShapesThatDoNotFitOrNeverWould) {
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> cases = {
      {"Expand", {kHuge, kHuge, kHuge, 1}},
      {"Expand", {1, 3, 1 << 20, 1 << 20}},
      {"Tile", {1, 1, kHuge, kHuge}},
      {"Tile", {1, 1}},
      {"Tile", {1, 1, -1, 1}},
      {"Pad", {0, 0, 0, 0, 0, 0, kHuge, kHuge}},
      {"Pad", {0, 0}},
      {"Reshape", {1, 2, 3, 4}},
      {"Reshape", {-1, -1, 3, 4}},
      {"Reshape", {-2, 3, 16, 16}},
      {"Squeeze", {1}},
      {"Unsqueeze", {99}}};
  for (const auto& [op, values] : cases)
    EXPECT_THAT(refusal(op_with(op, values)), HasSubstr("y_" + op)) << ::testing::PrintToString(values);
}

TEST(HostileModels, TensorsThatLieAboutTheirSize) {
  const auto with_weight = [](const std::vector<std::int64_t>& dims, int type, std::size_t raw) {
    OnnxModel m;
    m.input("image", {-1, 3, 16, 16});
    auto* t = m.model.mutable_graph()->add_initializer();
    t->set_name("w");
    t->set_data_type(type);
    for (const std::int64_t d : dims) t->add_dims(d);
    t->set_raw_data(std::string(raw, '\0'));
    m.node("Conv", {"image", "w"}, {"y"});
    m.output("y");
    return m.bytes();
  };
  constexpr int kFloat = onnx::TensorProto::FLOAT;
  EXPECT_THAT(refusal(with_weight({kHuge, kHuge, kHuge}, kFloat, 4)), HasSubstr("'w'"));
  EXPECT_THAT(refusal(with_weight({2, 3, 3, 3}, kFloat, 4)), HasSubstr("'w'"));
  EXPECT_THAT(refusal(with_weight({2, 3, -3, 3}, kFloat, 4)), HasSubstr("'w'"));
  EXPECT_THAT(refusal(with_weight({1}, 999, 4)), HasSubstr("'w'"));
  EXPECT_THAT(refusal(with_weight(std::vector<std::int64_t>(200, 1), kFloat, 4)), HasSubstr("w"));
}

TEST(HostileModels, CutAnywhereTheyAreRefusedOrStillWhole) {
  const std::string whole = conv_with("group", {1});
  ASSERT_EQ(refusal(whole), "no error");
  std::size_t refused = 0;
  for (std::size_t n = 0; n < whole.size(); ++n)
    refused += refusal(whole.substr(0, n)) != "no error" ? 1U : 0U;
  EXPECT_GT(refused, whole.size() - 20);  // behind the graph stands the opset; only what ends there may do
}

TEST(HostileModels, GraphsThatAreNone) {
  OnnxModel cycle;
  cycle.input("x", {1});
  cycle.node("Add", {"x", "b"}, {"a"});
  cycle.node("Relu", {"a"}, {"b"});
  cycle.output("b");
  EXPECT_NE(refusal(cycle.bytes()), "no error");
  OnnxModel twice;
  twice.input("x", {1});
  twice.node("Relu", {"x"}, {"y"});
  twice.node("Abs", {"x"}, {"y"});
  twice.output("y");
  EXPECT_THAT(refusal(twice.bytes()), HasSubstr("y"));
  OnnxModel absent;
  absent.input("x", {1});
  absent.node("Relu", {"nothing"}, {"y"});
  absent.output("y");
  EXPECT_THAT(refusal(absent.bytes()), HasSubstr("nothing"));
}

}  // namespace
}  // namespace espalier
