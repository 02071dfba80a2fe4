#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/run_op.hpp"

namespace espalier {
namespace {

using test::implementations_of;
using test::run_op;
using test::tensor_of;

Tensor random_tensor(std::mt19937& random, DType dtype, const Shape& shape, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  std::uniform_real_distribution<double> pick(low, high);
  for (double& v : values) v = is_float(dtype) ? pick(random) : std::floor(pick(random));
  return tensor_of(dtype, shape, values);
}

/// out[i] = f(a[..], b[..]) in double, by coordinates.
std::vector<double> broadcast_reference(const Tensor& a, const Tensor& b, const Shape& out,
                                        const std::function<double(double, double)>& f) {
  const auto x = a.to_double();
  const auto y = b.to_double();
  const auto source = [&](const Shape& in, std::int64_t flat) {
    std::int64_t offset = 0;
    std::int64_t stride = 1;
    for (int i = 1; i <= out.rank(); ++i) {
      const std::int64_t index = flat % out[-i];
      flat /= out[-i];
      if (i > in.rank()) continue;
      if (in[-i] != 1) offset += index * stride;
      stride *= in[-i];
    }
    return static_cast<std::size_t>(offset);
  };
  std::vector<double> result;
  for (std::int64_t i = 0; i < out.elements(); ++i)
    result.push_back(f(x[source(a.shape(), i)], y[source(b.shape(), i)]));
  return result;
}

void expect_close(const Tensor& got, const std::vector<double>& want, double tolerance,
                  const std::string& what) {
  const auto values = got.to_double();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << what << " element " << i;
    } else if (std::isinf(want[i])) {
      EXPECT_EQ(values[i], want[i]) << what << " element " << i;
    } else {
      EXPECT_NEAR(values[i], want[i], tolerance * (1 + std::abs(want[i]))) << what << " element " << i;
    }
  }
}

double tolerance_of(DType t) {
  switch (t) {
    case DType::f16:
      return 2e-3;
    case DType::bf16:
      return 2e-2;
    case DType::f32:
      return 1e-6;
    default:
      return 1e-12;
  }
}

const std::map<std::string, std::function<double(double, double)>>& binary_formulas() {
  static const std::map<std::string, std::function<double(double, double)>> formulas = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Equal", [](double a, double b) { return a == b; }},
      {"Greater", [](double a, double b) { return a > b; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
      {"Less", [](double a, double b) { return a < b; }},
      {"LessOrEqual", [](double a, double b) { return a <= b; }},
  };
  return formulas;
}

TEST(Binary, every_dtype_broadcasts_as_the_formula) {
  const std::vector<std::pair<Shape, Shape>> shapes = {{{2, 3, 4, 5}, {2, 3, 4, 5}},
                                                       {{2, 3, 4, 37}, {37}},
                                                       {{2, 3, 4, 5}, {3, 1, 1}},
                                                       {{}, {4, 3}},
                                                       {{2, 1, 4}, {1, 3, 1}},
                                                       {{3, 1}, {1, 1, 1, 4}},
                                                       {{0, 3}, {3}},
                                                       {{}, {}}};
  std::mt19937 random(7);
  for (const auto& [op, formula] : binary_formulas())
    for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32,
                    DType::i64, DType::u8, DType::u16, DType::u32, DType::u64})
      for (const auto& [sa, sb] : shapes) {
        const Tensor a = random_tensor(random, t, sa, 3, 8);  // differences of 8 bits stay in range
        const Tensor b = random_tensor(random, t, sb, 0, 4);
        const bool wraps = op == "Sub" && !is_float(t) && t >= DType::u8;
        const Shape out = broadcast(sa, sb);
        for (const std::string& name : implementations_of(all_layers(), op, {a, b})) {
          const Tensor got = run_op(all_layers(), op, {a, b}, {}, 1, name)[0];
          ASSERT_EQ(got.shape(), out);
          if (wraps) continue;
          expect_close(
              got, broadcast_reference(a, b, out, formula), tolerance_of(t),
              op + " " + std::string(name_of(t)) + " " + name + " " + sa.to_string() + sb.to_string());
        }
      }
}

std::vector<std::int64_t> ints(const std::string& op, DType t, std::vector<double> a, std::vector<double> b,
                               const Attributes& attributes = {}) {
  const Shape shape{static_cast<std::int64_t>(a.size())};
  return run_op(all_layers(), op, {tensor_of(t, shape, a), tensor_of(t, shape, b)}, attributes)[0].to_int64();
}

TEST(Binary, integers_as_onnx_and_numpy) {
  using V = std::vector<std::int64_t>;
  EXPECT_EQ(ints("Div", DType::i32, {7, -7, 7, 5, -2147483648.0}, {2, 2, -2, 0, -1}),
            (V{3, -3, -3, 0, -2147483648LL}));
  EXPECT_EQ(ints("Mod", DType::i32, {7, -7, 7, -7, 5}, {3, 3, -3, -3, 0}), (V{1, 2, -2, -1, 0}));
  Attributes fmod;
  fmod.set("fmod", std::int64_t{1});
  EXPECT_EQ(ints("Mod", DType::i8, {7, -7, 7, -7}, {3, 3, -3, -3}, fmod), (V{1, -1, 1, -1}));
  EXPECT_EQ(ints("Add", DType::i8, {127}, {1}), (V{-128}));
  EXPECT_EQ(ints("Mul", DType::u16, {65535}, {65535}), (V{1}));
  EXPECT_EQ(ints("Pow", DType::i32, {2, -3, 5, 1, 2}, {10, 3, 0, -4, -1}), (V{1024, -27, 1, 1, 0}));
  Attributes left;
  left.set("direction", std::string("LEFT"));
  EXPECT_EQ(ints("BitShift", DType::u8, {1, 200, 3}, {7, 1, 9}, left), (V{128, 144, 0}));
  Attributes right;
  right.set("direction", std::string("RIGHT"));
  EXPECT_EQ(ints("BitShift", DType::u16, {4096, 3}, {4, 16}, right), (V{256, 0}));
  EXPECT_EQ(ints("Xor", DType::boolean, {0, 1, 1}, {1, 1, 0}), (V{1, 0, 1}));
}

TEST(Binary, power_takes_short_cuts_only_where_they_are_right) {
  const Tensor x = tensor_of(DType::f32, {4}, {-1.5, 0.5, 2, 3});
  for (double exponent : {-1.0, 1.0, 2.0, 3.0, 4.0, 2.5}) {
    const Tensor e = tensor_of(DType::f32, {}, {exponent});
    const auto names = implementations_of(all_layers(), "Pow", {x, e});
    EXPECT_EQ(names.size(), exponent == 2.5 ? 1U : 2U);
    for (const std::string& name : names) {
      std::vector<double> want;
      for (double v : x.to_double()) want.push_back(std::pow(v, exponent));
      expect_close(run_op(all_layers(), "Pow", {x, e}, {}, 1, name)[0], want, 1e-6, name);
    }
  }
  const Tensor i = tensor_of(DType::i64, {}, {2});
  expect_close(run_op(all_layers(), "Pow", {x, i})[0], {2.25, 0.25, 4, 9}, 1e-6, "int exponent");
}

TEST(Binary, many_inputs) {
  // ((1, 2) + 10 + (100; 200)) / 3 = (37, 37.333; 70.333, 70.667)
  const Tensor a = tensor_of(DType::f32, {2}, {1, 2});
  const Tensor b = tensor_of(DType::f32, {}, {10});
  const Tensor c = tensor_of(DType::f32, {2, 1}, {100, 200});
  expect_close(run_op(all_layers(), "Sum", {a, b, c})[0], {111, 112, 211, 212}, 1e-6, "Sum");
  expect_close(run_op(all_layers(), "Mean", {a, b, c})[0], {37, 112 / 3.0, 211 / 3.0, 212 / 3.0}, 1e-6,
               "Mean");
  expect_close(run_op(all_layers(), "Max", {a, b, c})[0], {100, 100, 200, 200}, 0, "Max");
  expect_close(run_op(all_layers(), "Min", {a})[0], {1, 2}, 0, "Min");
}

TEST(Binary, prelu_and_where) {
  const Tensor x = tensor_of(DType::f32, {1, 2, 2}, {-1, 2, -3, 4});
  const Tensor slope = tensor_of(DType::f32, {2, 1}, {0.5, 0.25});
  expect_close(run_op(all_layers(), "PRelu", {x, slope})[0], {-0.5, 2, -0.75, 4}, 1e-7, "PRelu");
  EXPECT_THROW(run_op(all_layers(), "PRelu", {slope, x}), InputError);
  // opset 6: [C] meets axis 1
  const Tensor old_x = tensor_of(DType::f32, {1, 2, 3}, {-1, -1, -1, -1, 2, -1});
  const Tensor channels = tensor_of(DType::f32, {2}, {2, 3});
  expect_close(run_op(all_layers(), "PRelu", {old_x, channels})[0], {-2, -2, -2, -3, 2, -3}, 1e-7, "PRelu");
  const Tensor c = tensor_of(DType::boolean, {2, 1}, {1, 0});
  const Tensor p = tensor_of(DType::i64, {2}, {1, 2});
  const Tensor q = tensor_of(DType::i64, {}, {9});
  expect_close(run_op(all_layers(), "Where", {c, p, q})[0], {1, 2, 9, 9}, 0, "Where");
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Binary, wrong_inputs_are_named) {
  const Tensor a = tensor_of(DType::f32, {2, 3}, std::vector<double>(6));
  const Tensor b = tensor_of(DType::f32, {4}, std::vector<double>(4));
  const Tensor i = tensor_of(DType::i32, {3}, std::vector<double>(3));
  EXPECT_NE(error_of([&] { run_op(all_layers(), "Add", {a, b}); }).find("[2, 3] and [4]"), std::string::npos);
  EXPECT_NE(error_of([&] { run_op(all_layers(), "Add", {a, i}); }).find("int32 [3]"), std::string::npos);
  EXPECT_NE(error_of([&] { run_op(all_layers(), "Mod", {a, a}); }).find("fmod"), std::string::npos);
  EXPECT_NE(error_of([&] {
              run_op(all_layers(), "BitShift", {i, i});
            }).find("LEFT, RIGHT"),
            std::string::npos);
  EXPECT_NE(error_of([&] { run_op(all_layers(), "And", {a, a}); }).find("accepted: bool"), std::string::npos);
}

TEST(Unary, every_function_as_the_formula) {
  const std::map<std::string, std::function<double(double)>> formulas = {
      {"Abs", [](double x) { return std::abs(x); }},
      {"Neg", [](double x) { return -x; }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sign", [](double x) { return (x > 0) - (x < 0); }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Tan", [](double x) { return std::tan(x); }},
      {"Sinh", [](double x) { return std::sinh(x); }},
      {"Cosh", [](double x) { return std::cosh(x); }},
      {"Asinh", [](double x) { return std::asinh(x); }},
      {"Atan", [](double x) { return std::atan(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Asin", [](double x) { return std::asin(x); }},
      {"Acos", [](double x) { return std::acos(x); }},
      {"Acosh", [](double x) { return std::acosh(x); }},
      {"Atanh", [](double x) { return std::atanh(x); }},
  };
  std::mt19937 random(3);
  for (const auto& [op, f] : formulas)
    for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const bool unit = op == "Asin" || op == "Acos" || op == "Atanh";
      const bool positive = op == "Log" || op == "Sqrt" || op == "Acosh" || op == "Reciprocal";
      const Tensor x = random_tensor(random, t, {3, 67},
                                     unit       ? -0.9
                                     : positive ? 1.1
                                                : -1.4,
                                     unit       ? 0.9
                                     : positive ? 9
                                                : 1.4);
      std::vector<double> want;
      for (double v : x.to_double()) want.push_back(f(v));
      for (const std::string& name : implementations_of(all_layers(), op, {x}))
        expect_close(run_op(all_layers(), op, {x}, {}, 1, name)[0], want, tolerance_of(t), op + " " + name);
    }
}

TEST(Unary, special_values) {
  const double inf = INFINITY;
  const Tensor x = tensor_of(DType::f32, {5}, {NAN, inf, -inf, 0, -2});
  const auto all = [&](const std::string& op, const std::vector<double>& want) {
    for (const std::string& name : implementations_of(all_layers(), op, {x}))
      expect_close(run_op(all_layers(), op, {x}, {}, 1, name)[0], want, 1e-6, op + " " + name);
  };
  all("IsNaN", {1, 0, 0, 0, 0});
  all("IsInf", {0, 1, 1, 0, 0});
  all("Exp", {NAN, inf, 0, 1, std::exp(-2.0)});
  all("Log", {NAN, inf, NAN, -inf, NAN});
  all("Sqrt", {NAN, inf, NAN, 0, NAN});
  all("Sign", {NAN, 1, -1, 0, -1});
  all("Abs", {NAN, inf, inf, 0, 2});
  Attributes negative;
  negative.set("detect_positive", std::int64_t{0});
  expect_close(run_op(all_layers(), "IsInf", {x}, negative)[0], {0, 0, 1, 0, 0}, 0, "IsInf");
  expect_close(run_op(all_layers(), "Round", {tensor_of(DType::f32, {4}, {0.5, 1.5, -2.5, 2.4})})[0],
               {0, 2, -2, 2}, 0, "Round");
  expect_close(run_op(all_layers(), "Abs", {tensor_of(DType::i8, {2}, {-128, -5})})[0], {-128, 5}, 0, "Abs");
}

TEST(Cast, every_pair_of_dtypes) {
  const std::map<int, DType> codes = {
      {1, DType::f32},  {2, DType::u8},   {3, DType::i8},      {4, DType::u16},  {5, DType::i16},
      {6, DType::i32},  {7, DType::i64},  {9, DType::boolean}, {10, DType::f16}, {11, DType::f64},
      {12, DType::u32}, {13, DType::u64}, {16, DType::bf16}};
  for (const auto& [from_code, from] : codes)
    for (const auto& [to_code, to] : codes) {
      const Tensor x = tensor_of(from, {3}, {0, 1, from == DType::boolean ? 1.0 : 100.0});
      Attributes attributes;
      attributes.set("to", std::int64_t{to_code});
      const Tensor y = run_op(all_layers(), "Cast", {x}, attributes)[0];
      EXPECT_EQ(y.dtype(), to);
      const bool bit = from == DType::boolean || to == DType::boolean;
      EXPECT_EQ(y.to_double(), (std::vector<double>{0, 1, bit ? 1.0 : 100.0}));
      EXPECT_EQ(run_op(all_layers(), "CastLike", {x, tensor_of(to, {}, {0})})[0].to_double(), y.to_double());
    }
  Attributes text;
  text.set("to", std::int64_t{8});
  EXPECT_THROW(run_op(all_layers(), "Cast", {tensor_of(DType::f32, {}, {0})}, text), InputError);
}

}  // namespace
}  // namespace espalier
