#include "layers/movement/movement.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor ints(const Ints& values) {
  return Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

/// 0, 1, 2, ... in any dtype of 1, 2, 4 or 8 bytes (the bytes matter, not the meaning).
Tensor counting(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  auto* bytes = static_cast<unsigned char*>(t.mutable_data());
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    if (dtype == DType::f32) {
      t.as_mutable<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
      continue;
    }
    const std::uint64_t v = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ULL;
    std::memcpy(bytes + static_cast<std::size_t>(i) * size_of(dtype), &v, size_of(dtype));
  }
  return t;
}

struct Case {
  std::string op;
  Attributes attributes;
  std::vector<Tensor> inputs;
  int outputs = 1;
};

std::vector<Tensor> run(const Case& c, bool reference = false) {
  Graph graph;
  std::vector<ValueId> inputs;
  std::vector<std::string> outputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    inputs.push_back(graph.add_value("x" + std::to_string(i)));
  for (int o = 0; o < c.outputs; ++o) outputs.push_back("y" + std::to_string(o));
  const Node node = graph.add_node(c.op, "node", inputs, outputs, c.attributes);
  KernelOptions options;
  options.reference_only = reference;
  return evaluate_node(graph, node, all_layers(), c.inputs, options);
}

void expect_same(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  EXPECT_TRUE(a.bytes() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.bytes())) == 0)
      << a.type().to_string();
}

void expect_fast_is_reference(const Case& c) {
  SCOPED_TRACE(c.op + " of " + c.inputs[0].type().to_string());
  const std::vector<Tensor> fast = run(c), reference = run(c, true);
  for (std::size_t o = 0; o < fast.size(); ++o) expect_same(fast[o], reference[o]);
}

/// The node moved through the permutation gives the permuted output: f(x perm) = f(x) perm'.
void expect_permutes(const Case& c, const std::vector<int>& perm, std::size_t data_inputs = 1) {
  SCOPED_TRACE(c.op + " of " + c.inputs[0].type().to_string());
  Graph graph;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < c.inputs.size(); ++i)
    inputs.push_back(i < data_inputs ? graph.add_value("x" + std::to_string(i), c.inputs[i].type())
                     : c.inputs[i].data() == nullptr
                         ? kAbsent
                         : graph.add_constant("c" + std::to_string(i), c.inputs[i]));
  std::vector<std::string> outputs;
  for (int o = 0; o < c.outputs; ++o) outputs.push_back("y" + std::to_string(o));
  Node node = graph.add_node(c.op, "node", inputs, outputs, c.attributes);
  const auto moved = all_layers().at(node).permute(graph, node, perm);
  ASSERT_TRUE(moved);
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (i < data_inputs)
      values.push_back(permuted_tensor(c.inputs[i], perm));
    else
      values.push_back(node.inputs[i] == kAbsent ? Tensor{} : *graph.constant(node.inputs[i]));
  }
  const std::vector<Tensor> got = evaluate_node(graph, node, all_layers(), values);
  const std::vector<Tensor> plain = run(c);
  for (std::size_t o = 0; o < got.size(); ++o) expect_same(got[o], permuted_tensor(plain[o], *moved));
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t in(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(engine_);
  }
  Shape shape(int rank, std::int64_t smallest = 0) {
    Ints dims;
    for (int i = 0; i < rank; ++i) dims.push_back(in(smallest, 5));
    return Shape(dims);
  }
  DType dtype() {
    constexpr DType kAll[] = {DType::f32, DType::i64, DType::f16, DType::u8};
    return kAll[in(0, 3)];
  }
  std::vector<int> perm(int rank) {
    std::vector<int> p(static_cast<std::size_t>(rank));
    std::iota(p.begin(), p.end(), 0);
    std::shuffle(p.begin(), p.end(), engine_);
    return p;
  }

 private:
  std::mt19937 engine_;
};

Attributes with(std::initializer_list<std::pair<const char*, Attribute>> list) {
  Attributes attributes;
  for (const auto& [name, value] : list) attributes.set(name, value);
  return attributes;
}

Case random_concat(Random& random) {
  Shape shape = random.shape(static_cast<int>(random.in(1, 4)));
  const auto axis = static_cast<int>(random.in(0, shape.rank() - 1));
  const DType dtype = random.dtype();
  Case c{"Concat", with({{"axis", std::int64_t{axis - shape.rank()}}}), {}};
  for (std::int64_t i = random.in(1, 4); i > 0; --i) {
    shape[axis] = random.in(0, 4);
    c.inputs.push_back(counting(dtype, shape));
  }
  return c;
}

Case random_split(Random& random) {
  const Shape shape = random.shape(static_cast<int>(random.in(1, 4)));
  const auto axis = static_cast<int>(random.in(0, shape.rank() - 1));
  Case c{"Split", with({{"axis", std::int64_t{axis}}}), {counting(random.dtype(), shape)}, 1};
  if (random.in(0, 1) == 0) {
    c.outputs = 2;
    c.attributes.set("num_outputs", std::int64_t{2});
  } else {
    const std::int64_t first = random.in(0, shape[axis]);
    c.inputs.push_back(ints({first, 0, shape[axis] - first}));
    c.outputs = 3;
  }
  return c;
}

Case random_slice(Random& random) {
  const Shape shape = random.shape(static_cast<int>(random.in(1, 4)));
  const std::vector<int> order = random.perm(shape.rank());
  Ints starts, ends, axes, steps;
  for (std::int64_t k = random.in(0, shape.rank()); k > 0; --k) {
    starts.push_back(random.in(-7, 7));
    ends.push_back(random.in(0, 5) == 0 ? std::numeric_limits<std::int64_t>::max() : random.in(-7, 7));
    axes.push_back(order[static_cast<std::size_t>(k - 1)]);
    steps.push_back(random.in(0, 1) == 0 ? random.in(1, 3) : -random.in(1, 3));
  }
  return {"Slice", {}, {counting(random.dtype(), shape), ints(starts), ints(ends), ints(axes), ints(steps)}};
}

Case random_pad(Random& random) {
  const Shape shape = random.shape(static_cast<int>(random.in(1, 4)), 2);
  constexpr const char* kModes[] = {"constant", "reflect", "edge", "wrap"};
  Ints pads;
  for (int i = 0; i < 2 * shape.rank(); ++i) pads.push_back(random.in(0, 2) == 0 ? 0 : random.in(-1, 3));
  const DType dtype = random.dtype();
  Case c{"Pad", with({{"mode", std::string(kModes[random.in(0, 3)])}}), {counting(dtype, shape), ints(pads)}};
  if (random.in(0, 1) == 0) c.inputs.push_back(counting(dtype, Shape{2, 1}).reshaped(Shape{2, 1}));
  if (c.inputs.size() == 3) c.inputs[2] = counting(dtype, Shape{});
  return c;
}

Case random_transpose(Random& random) {
  const Shape shape = random.shape(static_cast<int>(random.in(1, 5)));
  const std::vector<int> perm = random.perm(shape.rank());
  return {"Transpose", with({{"perm", Ints(perm.begin(), perm.end())}}), {counting(random.dtype(), shape)}};
}

Case random_expand(Random& random) {
  Shape in = random.shape(static_cast<int>(random.in(0, 3)), 1), target = in;
  for (int a = 0; a < in.rank(); ++a) {
    if (random.in(0, 1) == 0) in[a] = 1;
    if (random.in(0, 2) == 0) target[a] = 1;
  }
  return {"Expand", {}, {counting(random.dtype(), in), ints(target.dims())}};
}

Case random_tile(Random& random) {
  const Shape in = random.shape(static_cast<int>(random.in(1, 4)));
  return {"Tile", {}, {counting(random.dtype(), in), ints(random.shape(in.rank()).dims())}};
}

Case random_depth_to_space(Random& random) {
  const std::int64_t b = random.in(1, 3);
  Shape shape = random.shape(4, 1);
  if (random.in(0, 1) == 0) {
    shape[3] *= b * b;
    const std::string mode = random.in(0, 1) == 0 ? "DCR" : "CRD";
    return {"DepthToSpace", with({{"blocksize", b}, {"mode", mode}}), {counting(random.dtype(), shape)}};
  }
  shape[1] *= b;
  shape[2] *= b;
  return {"SpaceToDepth", with({{"blocksize", b}}), {counting(random.dtype(), shape)}};
}

TEST(Movement, StridedCopiesEqualTheIndexMap) {
  Random random(1);
  for (int i = 0; i < 150; ++i)
    for (auto make : {random_concat, random_split, random_slice, random_pad, random_transpose, random_expand,
                      random_tile, random_depth_to_space})
      expect_fast_is_reference(make(random));
}

TEST(Movement, LargeTransposesUseTiles) {
  for (DType dtype : {DType::u8, DType::f16, DType::f32, DType::i64})
    for (const Ints& perm : {Ints{0, 2, 1}, Ints{2, 0, 1}, Ints{2, 1, 0}, Ints{1, 2, 0}})
      for (std::int64_t n : {2, 3, 4, 21})
        expect_fast_is_reference({"Transpose", with({{"perm", perm}}), {counting(dtype, Shape{n, 37, 50})}});
}

TEST(Movement, PermutationsMoveThrough) {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    for (auto make : {random_split, random_slice, random_pad, random_tile}) {
      const Case c = make(random);
      expect_permutes(c, random.perm(c.inputs[0].shape().rank()));
    }
    const Case concat = random_concat(random);
    expect_permutes(concat, random.perm(concat.inputs[0].shape().rank()),
                    static_cast<std::size_t>(random.in(1, static_cast<std::int64_t>(concat.inputs.size()))));
  }
  const Tensor x = counting(DType::f32, Shape{2, 1, 3, 1, 4});
  expect_permutes({"Expand", {}, {x, ints({5, 3, 1, 1})}}, {4, 1, 0, 3, 2});
  expect_permutes({"Squeeze", {}, {x, ints({1, -2})}}, {3, 4, 0, 1, 2});
  expect_permutes({"Unsqueeze", {}, {x, ints({0, -1, 3})}}, {3, 4, 0, 1, 2});
  expect_permutes({"Gather", with({{"axis", std::int64_t{2}}}), {x, Tensor::scalar<std::int64_t>(1)}},
                  {3, 4, 2, 1, 0});
  expect_permutes({"Gather", with({{"axis", std::int64_t{-1}}}), {x, ints({3, -4, 0})}}, {3, 4, 2, 1, 0});
}

TEST(Movement, ReshapeFillsInExtents) {
  const Tensor x = counting(DType::f32, Shape{2, 3, 4});
  EXPECT_EQ(run({"Reshape", {}, {x, ints({0, -1})}})[0].shape(), (Shape{2, 12}));
  EXPECT_EQ(run({"Reshape", {}, {x, ints({4, 0, -1, 1})}})[0].shape(), (Shape{4, 3, 2, 1}));
  const Tensor empty = counting(DType::f32, Shape{2, 0, 4});
  EXPECT_EQ(run({"Reshape", with({{"allowzero", std::int64_t{1}}}), {empty, ints({0, 9})}})[0].shape(),
            (Shape{0, 9}));
  EXPECT_EQ(run({"Flatten", with({{"axis", std::int64_t{-1}}}), {x}})[0].shape(), (Shape{6, 4}));
  EXPECT_EQ(run({"Flatten", with({{"axis", std::int64_t{0}}}), {x}})[0].shape(), (Shape{1, 24}));
  for (const Ints& bad : {Ints{5, -1}, Ints{-1, -1}, Ints{7}, Ints{0, 0, 0, 0}, Ints{-2, 12}})
    EXPECT_THROW(run({"Reshape", {}, {x, ints(bad)}}), InputError);
}

TEST(Movement, BadInputIsRefusedWithShapes) {
  const Tensor x = counting(DType::f32, Shape{2, 3}), y = counting(DType::f32, Shape{3, 2});
  try {
    run({"Concat", with({{"axis", std::int64_t{1}}}), {x, y}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("[3, 2]"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("[2, 3]"), std::string::npos) << e.what();
  }
  const Case bad[] = {
      {"Slice", {}, {x, ints({0}), ints({1}), ints({2})}},
      {"Slice", {}, {x, ints({0}), ints({1}), ints({0}), ints({0})}},
      {"Slice", {}, {x, ints({0, 0}), ints({1})}},
      {"Split", with({{"axis", std::int64_t{0}}}), {x, ints({1, 2})}, 2},
      {"Split", with({{"axis", std::int64_t{0}}}), {x, ints({-1, 3})}, 2},
      {"Pad", {}, {x, ints({0, 0})}},
      {"Pad", with({{"mode", std::string("mirror")}}), {x, ints({0, 0, 0, 0})}},
      {"Pad", {}, {x, ints({-3, 0, 0, 0})}},
      {"Transpose", with({{"perm", Ints{0, 0}}}), {x}},
      {"Tile", {}, {x, ints({1})}},
      {"Tile", {}, {x, ints({1, -1})}},
      {"Expand", {}, {x, ints({2, 2})}},
      {"Squeeze", {}, {x, ints({0})}},
      {"Gather", {}, {x, ints({2})}},
      {"Gather", {}, {x, y}},
      {"GatherElements", {}, {x, Tensor::of<std::int64_t>(Shape{1, 1}, Ints{-3})}},
      {"GatherND", {}, {x, ints({0, 3})}},
      {"ScatterND", {}, {x, ints({0}), x}},
      {"DepthToSpace", with({{"blocksize", std::int64_t{2}}}), {counting(DType::f32, Shape{1, 1, 1, 3})}},
      {"ConstantOfShape", {}, {ints({-1})}},
      {"Range", {}, {Tensor::scalar(0.0F), Tensor::scalar(1.0F), Tensor::scalar(0.0F)}},
      {"OneHot", {}, {ints({1}), Tensor::scalar<std::int64_t>(-2), ints({0, 1})}},
  };
  for (const Case& c : bad) EXPECT_THROW(run(c), InputError) << c.op;
}

TEST(Movement, NegativeStepReversesToTheFirstElement) {
  // start 4 down to -1 exclusive by 2 of 0..4: 4, 2, 0
  const Tensor y = run({"Slice",
                        {},
                        {counting(DType::f32, Shape{5}), ints({-1}),
                         ints({std::numeric_limits<std::int64_t>::min()}), ints({0}), ints({-2})}})[0];
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()), (std::vector<float>{4, 2, 0}));
}

TEST(Movement, ScatterAddsDuplicates) {
  // 0 1 2 with 10 and 100 added at 1, 1000 at 2
  const Tensor y = run({"ScatterElements",
                        with({{"reduction", std::string("add")}}),
                        {counting(DType::f32, Shape{3}), ints({1, -2, 2}),
                         Tensor::of<float>(Shape{3}, std::vector<float>{10, 100, 1000})}})[0];
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()),
            (std::vector<float>{0, 111, 1002}));
}

}  // namespace
}  // namespace espalier
