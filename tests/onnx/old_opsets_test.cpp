#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/onnx_model.hpp"

/// What earlier opsets wrote differently gives the same numbers.
namespace espalier {
namespace {

using test::OnnxModel;
using test::set_float;
using test::set_int;
using test::set_ints;
using test::set_string;
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;
using Floats = std::vector<float>;

/// Output "y" of the model for x = 0, 1, 2, ...
Tensor run(OnnxModel& m) {
  m.output("y");
  const Graph graph = bind(import_onnx_bytes(m.bytes(), "old.onnx", all_layers()), all_layers(), {});
  Tensor x(DType::f32, graph.type(graph.inputs[0]).shape);
  for (std::int64_t i = 0; i < x.elements(); ++i) x.as_mutable<float>()[i] = static_cast<float>(i);
  return evaluate(graph, all_layers(), {{"x", x}}).at("y");
}

Floats values(const Tensor& t) {
  return {t.as<float>().begin(), t.as<float>().end()};
}

TEST(OldOpsets, AxesWereAttributes) {
  OnnxModel m(11);
  m.input("x", {1, 3});
  set_ints(m.node("Squeeze", {"x"}, {"a"}), "axes", {0});
  set_ints(m.node("Unsqueeze", {"a"}, {"b"}), "axes", {0, 2});
  auto& sum = m.node("ReduceSum", {"b"}, {"c"});
  set_ints(sum, "axes", {1});
  auto& mean = m.node("ReduceMean", {"c"}, {"y"});
  set_ints(mean, "axes", {0});
  set_int(mean, "keepdims", 0);
  const Tensor y = run(m);
  EXPECT_EQ(y.shape(), (Shape{1, 1}));
  EXPECT_THAT(values(y), ElementsAre(3));  // 0 + 1 + 2
}

TEST(OldOpsets, SplitSliceAndPad) {
  OnnxModel m(9);
  m.input("x", {5});
  auto& split = m.node("Split", {"x"}, {"a", "b"});
  set_ints(split, "split", {2, 3});
  auto& slice = m.node("Slice", {"b"}, {"c"});  // 2 3 4 -> 3 4
  set_ints(slice, "starts", {1});
  set_ints(slice, "ends", {9});
  auto& pad = m.node("Pad", {"c"}, {"y"});
  set_string(pad, "mode", "constant");
  set_ints(pad, "pads", {1, 0});
  set_float(pad, "value", 7);
  EXPECT_THAT(values(run(m)), ElementsAre(7, 3, 4));
}

TEST(OldOpsets, SplitIntoEqualPartsWithoutSizes) {
  OnnxModel m(13);
  m.input("x", {4});
  m.node("Split", {"x"}, {"a", "y"});
  EXPECT_THAT(values(run(m)), ElementsAre(2, 3));
}

TEST(OldOpsets, ClipAndTopK) {
  OnnxModel m(9);
  m.input("x", {5});
  auto& clip = m.node("Clip", {"x"}, {"a"});
  set_float(clip, "min", 1);
  set_float(clip, "max", 3);
  auto& top = m.node("TopK", {"a"}, {"y", "i"});
  set_int(top, "k", 2);
  EXPECT_THAT(values(run(m)), ElementsAre(3, 3));
}

TEST(OldOpsets, DropoutPassesItsInputAndTheMaskIsAllOnes) {
  for (int opset : {7, 12}) {
    OnnxModel m(opset);
    m.input("x", {3});
    m.node("Dropout", {"x"}, {"a", "mask"});
    set_int(m.node("Cast", {"mask"}, {"f"}), "to", onnx::TensorProto::FLOAT);
    m.node("Add", {"a", "f"}, {"y"});
    EXPECT_THAT(values(run(m)), ElementsAre(1, 2, 3));
  }
}

TEST(OldOpsets, UpsampleAndResizeOfTen) {
  OnnxModel m(7);
  m.input("x", {1, 1, 1, 2});
  auto& up = m.node("Upsample", {"x"}, {"y"});
  auto* scales = up.add_attribute();
  scales->set_name("scales");
  scales->set_type(onnx::AttributeProto::FLOATS);
  for (float s : {1.0F, 1.0F, 1.0F, 2.0F}) scales->add_floats(s);
  EXPECT_THAT(values(run(m)), ElementsAre(0, 0, 1, 1));
  OnnxModel r(10);
  r.input("x", {1, 1, 1, 2});
  r.floats("scales", {4}, {1, 1, 1, 2});
  set_string(r.node("Resize", {"x", "scales"}, {"y"}), "mode", "linear");
  EXPECT_THAT(values(run(r)), ElementsAre(0, 0.5, 1, 1));  // i / 2, clamped
}

TEST(OldOpsets, SoftmaxWorkedOnTheFlattenedInput) {
  // axis 1 of [1, 2, 2] flattened: four equal-distance values share one softmax
  OnnxModel m(11);
  m.input("x", {1, 2, 2});
  m.node("Softmax", {"x"}, {"y"});
  EXPECT_THAT(values(run(m)),
              Pointwise(FloatNear(1e-6), Floats{0.0320586F, 0.0871443F, 0.2368828F, 0.6439143F}));
  OnnxModel n(13);
  n.input("x", {1, 2, 2});
  n.node("Softmax", {"x"}, {"y"});
  EXPECT_THAT(values(run(n)),
              Pointwise(FloatNear(1e-6), Floats{0.2689414F, 0.7310586F, 0.2689414F, 0.7310586F}));
}

TEST(OldOpsets, OpsetSixAlignsOperandsAtAnAxis) {
  OnnxModel m(6);
  m.input("x", {2, 2});
  m.floats("w", {2}, {10, 20});
  auto& add = m.node("Add", {"x", "w"}, {"y"});
  set_int(add, "broadcast", 1);
  set_int(add, "axis", 0);
  EXPECT_THAT(values(run(m)), ElementsAre(10, 11, 22, 23));
}

TEST(OldOpsets, ConstantsOfEveryForm) {
  OnnxModel m(12);
  m.input("x", {2});
  set_float(m.node("Constant", {}, {"f"}), "value_float", 5);
  auto* floats = m.node("Constant", {}, {"fs"}).add_attribute();
  floats->set_name("value_floats");
  floats->set_type(onnx::AttributeProto::FLOATS);
  floats->add_floats(1);
  floats->add_floats(2);
  set_ints(m.node("Constant", {}, {"is"}), "value_ints", {2, 1});
  m.node("Add", {"x", "f"}, {"a"});
  m.node("Add", {"a", "fs"}, {"b"});
  m.node("Reshape", {"b", "is"}, {"y"});
  const Tensor y = run(m);
  EXPECT_EQ(y.shape(), (Shape{2, 1}));
  EXPECT_THAT(values(y), ElementsAre(6, 8));
  OnnxModel text(12);
  text.input("x", {2});
  set_string(text.node("Constant", {}, {"s"}), "value_string", "a");
  text.output("x");
  EXPECT_THROW(import_onnx_bytes(text.bytes(), "text.onnx", all_layers()), InputError);
}

}  // namespace
}  // namespace espalier
