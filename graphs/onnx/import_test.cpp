#include "graphs/onnx/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "tests/support/onnx_model.hpp"
#include "tests/support/toy_layers.hpp"

namespace espalier {
namespace {

using test::OnnxModel;
using test::toy_layers;
using testing::ElementsAre;
using testing::HasSubstr;

Graph import_model(const OnnxModel& model) {
  return import_onnx_bytes(model.bytes(), "test.onnx", toy_layers());
}

std::string error_of(const std::string& bytes) {
  try {
    import_onnx_bytes(bytes, "test.onnx", toy_layers());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> values_of(const Tensor& t) {
  const auto v = t.as<float>();
  return {v.begin(), v.end()};
}

Tensor ramp(Shape shape) {
  Tensor t(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.as_mutable<float>()[i] = static_cast<float>(i);
  return t;
}

TEST(Import, ShapeArithmeticFoldsWhenTheBatchIsBound) {
  // y = reshape(x, [shape(x)[0], -1]) of x [N, 2, 3]
  OnnxModel m;
  m.input("x", {-1, 2, 3});
  m.ints("zero", {0});
  m.ints("rest", {-1});
  m.node("Shape", {"x"}, {"shape"});
  m.node("Gather", {"shape", "zero"}, {"n"});
  test::set_int(m.node("Concat", {"n", "rest"}, {"target"}), "axis", 0);
  m.node("Reshape", {"x", "target"}, {"y"});
  m.output("y");
  Binding four;
  four.batch = 4;
  const Graph bound = bind(import_model(m), toy_layers(), four);
  ASSERT_EQ(bound.nodes.size(), 1U);
  EXPECT_EQ(bound.type(bound.outputs[0]).to_string(), "float32 [4, 6]");
}

TEST(Import, ReshapesToASingleSampleFollowTheBatch) {
  OnnxModel m;
  m.input("x", {1, 2, 3});
  m.ints("target", {1, -1});
  m.node("Reshape", {"x", "target"}, {"y"});
  m.output("y");
  Binding four;
  four.batch = 4;
  const Graph bound = bind(import_model(m), toy_layers(), four);
  EXPECT_EQ(bound.type(bound.outputs[0]).to_string(), "float32 [4, 6]");
}

TEST(Import, SpatialOperatorsAreBracketedWhenBound) {
  // x [1, 2, 1, 2] = 0 1 | 2 3; SpatialToy gives channel + 10 x, so 0 10 | 21 31 in ONNX's order
  OnnxModel m;
  m.input("x", {1, 2, 1, 2});
  m.node("SpatialToy", {"x"}, {"y"});
  m.output("y");
  const Graph bound = bind(import_model(m), toy_layers(), {});
  ASSERT_EQ(bound.nodes.size(), 3U);
  EXPECT_EQ(bound.nodes[0].op, "Transpose");
  const auto y = evaluate(bound, toy_layers(), {{"x", ramp({1, 2, 1, 2})}});
  EXPECT_THAT(values_of(y.at("y")), ElementsAre(0, 10, 21, 31));
}

/// if (condition) y = relu(x) else y = -x, where x comes from outside
OnnxModel branching(bool constant) {
  OnnxModel m;
  m.input("x", {2});
  if (constant) {
    auto* c = m.model.mutable_graph()->add_initializer();
    c->set_name("condition");
    c->set_data_type(onnx::TensorProto::BOOL);
    c->add_int32_data(0);
  } else {
    m.input("condition", {}, onnx::TensorProto::BOOL);
  }
  auto& node = m.node("If", {"condition"}, {"y"});
  auto& then_branch = test::set_graph(node, "then_branch");
  OnnxModel::add_node(then_branch, "Relu", {"x"}, {"a"});
  then_branch.add_output()->set_name("a");
  auto& else_branch = test::set_graph(node, "else_branch");
  OnnxModel::add_node(else_branch, "Neg", {"x"}, {"b"});
  else_branch.add_output()->set_name("b");
  m.output("y");
  return m;
}

TEST(Import, AnIfWithAKnownConditionIsInlined) {
  const Graph bound = bind(import_model(branching(true)), toy_layers(), {});
  const auto y = evaluate(bound, toy_layers(), {{"x", Tensor::of<float>({2}, std::vector<float>{3, -4})}});
  EXPECT_THAT(values_of(y.at("y")), ElementsAre(-3, 4));
  const Graph open = import_model(branching(false));
  Binding yes;
  yes.values["condition"] = Tensor::scalar(true);
  const auto z = evaluate(bind(open, toy_layers(), yes), toy_layers(),
                          {{"x", Tensor::of<float>({2}, std::vector<float>{3, -4})}});
  EXPECT_THAT(values_of(z.at("y")), ElementsAre(3, 0));
  EXPECT_THROW(bind(open, toy_layers(), {}), InputError);
}

TEST(Import, NodesWithoutNamesGetUniqueOnes) {
  OnnxModel m;
  m.input("x", {2});
  m.node("Relu", {"x"}, {"a"}).clear_name();
  m.node("Relu", {"a"}, {"b"}).set_name("same");
  m.node("Relu", {"b"}, {"c"}).set_name("same");
  m.output("c");
  const Graph g = import_model(m);
  g.validate();
  EXPECT_EQ(g.nodes[0].name, "Relu_0");
  EXPECT_NE(g.nodes[1].name, g.nodes[2].name);
}

TEST(ImportErrors, SayWhatIsWrong) {
  EXPECT_THAT(error_of(""), HasSubstr("empty"));
  EXPECT_THAT(error_of("this is not a model"), HasSubstr("test.onnx"));
  OnnxModel old(3);
  old.input("x", {1});
  old.node("Add", {"x", "x"}, {"y"});
  old.output("y");
  EXPECT_THAT(error_of(old.bytes()), HasSubstr("7 to 18"));
  OnnxModel unknown;
  unknown.input("x", {1});
  unknown.node("Frobnicate", {"x"}, {"y"});
  unknown.output("y");
  EXPECT_THAT(error_of(unknown.bytes()),
              testing::AllOf(HasSubstr("Frobnicate"), HasSubstr("supported are Add")));
  OnnxModel foreign;
  foreign.input("x", {1});
  foreign.node("Relu", {"x"}, {"y"}).set_domain("com.example");
  foreign.output("y");
  EXPECT_THAT(error_of(foreign.bytes()), HasSubstr("com.example"));
  OnnxModel missing;
  missing.node("Relu", {"x"}, {"y"});
  missing.output("y");
  EXPECT_THAT(error_of(missing.bytes()), HasSubstr("'x' is given by nothing"));
  OnnxModel loop;
  loop.input("x", {1});
  loop.node("Loop", {"x"}, {"y"});
  loop.output("y");
  EXPECT_THAT(error_of(loop.bytes()), HasSubstr("control flow"));
}

TEST(ImportErrors, TruncatedAnywhere) {
  OnnxModel m;
  m.input("x", {2});
  m.floats("w", {2}, {1, 2});
  m.node("Add", {"x", "w"}, {"y"});
  m.output("y");
  const std::string bytes = m.bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n) EXPECT_NE(error_of(bytes.substr(0, n)), "no error") << n;
  EXPECT_EQ(error_of(bytes), "no error");
}

TEST(ImportErrors, ManyEmptyMessagesDoNotFillTheMemory) {
  OnnxModel m;
  std::string graph;
  for (int i = 0; i < 8'000'000; ++i)
    graph += std::string("\x0a\x00", 2);  // an empty node, a hundred bytes parsed
  std::string bytes = "\x3a";
  for (std::size_t n = graph.size(); n != 0; n >>= 7)
    bytes += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
  EXPECT_THAT(error_of(bytes + graph), HasSubstr("more memory than is accepted"));
}

}  // namespace
}  // namespace espalier
