#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "graphs/base/error.hpp"
#include "layers/common/permute.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/run_op.hpp"

namespace espalier {
namespace {

using test::run_op;
using test::tensor_of;
using Values = std::vector<double>;

Tensor int64s(const std::vector<std::int64_t>& v) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(v.size())}, v);
}

/// The elements of x that go into each result, by coordinates.
std::vector<Values> groups(const Tensor& x, const std::vector<bool>& reduced) {
  const Shape& shape = x.shape();
  std::int64_t results = 1;
  for (int i = 0; i < shape.rank(); ++i)
    if (!reduced[static_cast<std::size_t>(i)]) results *= shape[i];
  std::vector<Values> out(static_cast<std::size_t>(results));
  const Values values = x.to_double();
  for (std::int64_t flat = 0; flat < shape.elements(); ++flat) {
    std::int64_t rest = flat, at = 0, stride = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      const std::int64_t index = rest % shape[i];
      rest /= shape[i];
      if (reduced[static_cast<std::size_t>(i)]) continue;
      at += index * stride;
      stride *= shape[i];
    }
    out[static_cast<std::size_t>(at)].push_back(values[static_cast<std::size_t>(flat)]);
  }
  return out;
}

double sum_of(
    const Values& v, const std::function<double(double)>& f = [](double x) { return x; }) {
  double s = 0;
  for (double x : v) s += f(x);
  return s;
}

const std::map<std::string, std::function<double(const Values&)>>& formulas() {
  static const std::map<std::string, std::function<double(const Values&)>> table = {
      {"ReduceSum", [](const Values& v) { return sum_of(v); }},
      {"ReduceMean", [](const Values& v) { return sum_of(v) / static_cast<double>(v.size()); }},
      {"ReduceMax", [](const Values& v) { return *std::max_element(v.begin(), v.end()); }},
      {"ReduceMin", [](const Values& v) { return *std::min_element(v.begin(), v.end()); }},
      {"ReduceProd",
       [](const Values& v) {
         double p = 1;
         for (double x : v) p *= x;
         return p;
       }},
      {"ReduceL1", [](const Values& v) { return sum_of(v, [](double x) { return std::abs(x); }); }},
      {"ReduceL2", [](const Values& v) { return std::sqrt(sum_of(v, [](double x) { return x * x; })); }},
      {"ReduceSumSquare", [](const Values& v) { return sum_of(v, [](double x) { return x * x; }); }},
      {"ReduceLogSum", [](const Values& v) { return std::log(sum_of(v)); }},
      {"ReduceLogSumExp",
       [](const Values& v) { return std::log(sum_of(v, [](double x) { return std::exp(x); })); }},
  };
  return table;
}

Tensor random_tensor(std::mt19937& random, DType t, const Shape& shape) {
  std::uniform_real_distribution<double> pick(0.5, 2.5);
  Values values(static_cast<std::size_t>(shape.elements()));
  for (double& v : values) v = is_float(t) ? pick(random) : std::floor(pick(random));
  return tensor_of(t, shape, values);
}

void expect_close(const Tensor& got, const Values& want, double tolerance, const std::string& what) {
  const Values values = got.to_double();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(values[i], want[i], tolerance * (1 + std::abs(want[i]))) << what << " element " << i;
}

TEST(Reduce, every_set_of_axes_as_the_formula) {
  std::mt19937 random(5);
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {3, 1, 37}, {40}, {2, 700}};
  for (const auto& [op, formula] : formulas())
    for (DType t : {DType::f32, DType::f64, DType::f16, DType::i32, DType::u64})
      for (const Shape& shape : shapes)
        for (int mask = 0; mask < (1 << shape.rank()); ++mask) {
          std::vector<bool> reduced;
          std::vector<std::int64_t> axes;
          for (int i = 0; i < shape.rank(); ++i) {
            reduced.push_back(((mask >> i) & 1) != 0);
            if (reduced.back()) axes.push_back(i % 2 == 0 ? i : i - shape.rank());
          }
          const Tensor x = random_tensor(random, t, shape);
          Values want;
          for (const Values& group : groups(x, reduced)) {
            const double v = formula(group);
            want.push_back(is_float(t) ? v : std::trunc(v));
          }
          const bool overflows = op == "ReduceProd" && x.elements() > 20;  // 2^k leaves the type's range
          if (overflows) continue;
          Attributes keep;
          keep.set("keepdims", std::int64_t{mask % 2});
          keep.set("noop_with_empty_axes", std::int64_t{1});
          Attributes attribute = keep;
          if (!axes.empty()) attribute.set("axes", axes);
          const double tolerance = t == DType::f16 ? 2e-3 : t == DType::f32 ? 1e-6 : 1e-12;
          const std::string what =
              op + " " + std::string(name_of(t)) + " " + shape.to_string() + " mask " + std::to_string(mask);
          expect_close(run_op(all_layers(), op, {x, int64s(axes)}, keep)[0], want, tolerance, what);
          expect_close(run_op(all_layers(), op, {x}, attribute)[0], want, tolerance, what + " attribute");
        }
}

TEST(Reduce, empty_axes_mean_all_or_none) {
  const Tensor x = tensor_of(DType::f32, {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_op(all_layers(), "ReduceSum", {x})[0].shape(), Shape({1, 1}));
  Attributes drop;
  drop.set("keepdims", std::int64_t{0});
  const Tensor all = run_op(all_layers(), "ReduceSum", {x}, drop)[0];
  EXPECT_EQ(all.shape(), Shape{});
  EXPECT_EQ(all.to_double(), Values{10});
  Attributes noop;
  noop.set("noop_with_empty_axes", std::int64_t{1});
  EXPECT_EQ(run_op(all_layers(), "ReduceSum", {x, int64s({})}, noop)[0].to_double(), (Values{1, 2, 3, 4}));
}

TEST(Reduce, wrong_axes_are_named) {
  const Tensor x = tensor_of(DType::f32, {2, 2}, {1, 2, 3, 4});
  EXPECT_THROW(run_op(all_layers(), "ReduceSum", {x, int64s({2})}), InputError);
  EXPECT_THROW(run_op(all_layers(), "ReduceSum", {x, int64s({0, -2})}), InputError);
}

TEST(Reduce, log_sum_exp_does_not_overflow) {
  // log(e^1000 + e^1000) = 1000 + log 2
  const Tensor x = tensor_of(DType::f32, {4}, {1000, 1000, -INFINITY, -5000});
  expect_close(run_op(all_layers(), "ReduceLogSumExp", {x})[0], {1000 + std::log(2.0)}, 1e-7, "");
  const Tensor none = tensor_of(DType::f32, {2}, {-INFINITY, -INFINITY});
  EXPECT_EQ(run_op(all_layers(), "ReduceLogSumExp", {none})[0].to_double()[0], -INFINITY);
}

/// op(transpose(x)) with the rewritten node must be transpose(op(x)).
void check_permute(const std::string& op, const Tensor& x, const std::vector<Tensor>& more,
                   const Attributes& attributes, const std::vector<int>& perm) {
  std::vector<Tensor> inputs = {x};
  inputs.insert(inputs.end(), more.begin(), more.end());
  const Layer* layer = all_layers().find(op);
  const int outputs = layer->max_outputs;
  const auto want = run_op(all_layers(), op, inputs, attributes, outputs);
  Graph graph;
  std::vector<ValueId> ids = {graph.add_value("x", x.type())};
  for (const Tensor& t : more) ids.push_back(graph.add_constant("c", t));
  Node node = graph.add_node(op, "n", ids, {"y"}, attributes);
  const auto moved = layer->permute(graph, node, perm);
  ASSERT_TRUE(moved.has_value()) << op;
  std::vector<Tensor> turned = {permuted_tensor(x, perm)};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) turned.push_back(*graph.constant(node.inputs[i]));
  const auto got = run_op(all_layers(), op, turned, node.attributes, outputs);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Tensor expected = permuted_tensor(want[i], *moved);
    EXPECT_EQ(got[i].shape(), expected.shape()) << op;
    expect_close(got[i], expected.to_double(), 1e-6, op);
  }
}

TEST(Reduce, permutations_move_through) {
  std::mt19937 random(9);
  const Tensor x = random_tensor(random, DType::f32, {2, 3, 4, 5});
  const std::vector<std::vector<int>> perms = {{0, 2, 3, 1}, {0, 3, 1, 2}, {3, 1, 0, 2}};
  for (const auto& perm : perms)
    for (std::int64_t keepdims : {0, 1}) {
      Attributes keep;
      keep.set("keepdims", keepdims);
      check_permute("ReduceMean", x, {int64s({2, -1})}, keep, perm);
      check_permute("ReduceSum", x, {int64s({1})}, keep, perm);
      check_permute("ReduceMax", x, {}, keep, perm);
      Attributes attribute = keep;
      attribute.set("axes", std::vector<std::int64_t>{0, 3});
      check_permute("ReduceL2", x, {}, attribute, perm);
      Attributes axis = keep;
      axis.set("axis", std::int64_t{1});
      check_permute("ArgMax", x, {}, axis, perm);
      check_permute("ArgMin", x, {}, keep, perm);
      check_permute("TopK", x, {int64s({2})}, axis, perm);
      check_permute("CumSum", x, {Tensor::scalar<std::int32_t>(2)}, {}, perm);
      check_permute("Hardmax", x, {}, axis, perm);
    }
}

TEST(Axis, arg_max_takes_the_first_or_the_last_of_equals) {
  const Tensor x = tensor_of(DType::i32, {2, 3}, {5, 5, 1, 0, 2, 2});
  Attributes a;
  a.set("axis", std::int64_t{1});
  a.set("keepdims", std::int64_t{0});
  EXPECT_EQ(run_op(all_layers(), "ArgMax", {x}, a)[0].to_int64(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(run_op(all_layers(), "ArgMin", {x}, a)[0].to_int64(), (std::vector<std::int64_t>{2, 0}));
  a.set("select_last_index", std::int64_t{1});
  EXPECT_EQ(run_op(all_layers(), "ArgMax", {x}, a)[0].to_int64(), (std::vector<std::int64_t>{1, 2}));
  const Tensor nan = tensor_of(DType::f32, {1, 3}, {5, NAN, 9});
  a.erase("select_last_index");
  EXPECT_EQ(run_op(all_layers(), "ArgMax", {nan}, a)[0].to_int64(), (std::vector<std::int64_t>{1}));
  EXPECT_THROW(run_op(all_layers(), "ArgMax", {tensor_of(DType::f32, {2, 0}, {})}, a), InputError);
}

TEST(Axis, top_k_sorts_and_breaks_ties_by_index) {
  const Tensor x = tensor_of(DType::f32, {2, 4}, {3, 1, 3, NAN, 0, -1, 7, 2});
  const auto most = run_op(all_layers(), "TopK", {x, int64s({3})}, {}, 2);
  EXPECT_EQ(most[1].to_int64(), (std::vector<std::int64_t>{3, 0, 2, 2, 3, 0}));
  Attributes least;
  least.set("largest", std::int64_t{0});
  const auto few = run_op(all_layers(), "TopK", {x, int64s({2})}, least, 2);
  EXPECT_EQ(few[0].to_double(), (Values{1, 3, -1, 0}));
  EXPECT_EQ(few[1].to_int64(), (std::vector<std::int64_t>{1, 0, 1, 0}));
  EXPECT_THROW(run_op(all_layers(), "TopK", {x, int64s({5})}, {}, 2), InputError);
}

TEST(Axis, cum_sum_both_ways) {
  const Tensor x = tensor_of(DType::f64, {5}, {1, 2, 3, 4, 5});
  const auto sums = [&](std::int64_t exclusive, std::int64_t reverse) {
    Attributes a;
    a.set("exclusive", exclusive);
    a.set("reverse", reverse);
    return run_op(all_layers(), "CumSum", {x, Tensor::scalar<std::int32_t>(0)}, a)[0].to_double();
  };
  EXPECT_EQ(sums(0, 0), (Values{1, 3, 6, 10, 15}));
  EXPECT_EQ(sums(1, 0), (Values{0, 1, 3, 6, 10}));
  EXPECT_EQ(sums(0, 1), (Values{15, 14, 12, 9, 5}));
  EXPECT_EQ(sums(1, 1), (Values{14, 12, 9, 5, 0}));
  EXPECT_THROW(run_op(all_layers(), "CumSum", {x, Tensor::scalar<std::int32_t>(1)}), InputError);
}

TEST(Axis, hardmax_marks_the_first) {
  const Tensor x = tensor_of(DType::f32, {2, 3}, {1, 4, 4, 9, 0, 1});
  EXPECT_EQ(run_op(all_layers(), "Hardmax", {x})[0].to_double(), (Values{0, 1, 0, 1, 0, 0}));
}

}  // namespace
}  // namespace espalier
