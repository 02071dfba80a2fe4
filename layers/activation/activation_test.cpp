#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>

#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/run_op.hpp"

namespace espalier {
namespace {

using test::implementations_of;
using test::run_op;
using test::tensor_of;
using Formula = std::function<double(double)>;

Attributes floats(std::initializer_list<std::pair<const char*, double>> values) {
  Attributes attributes;
  for (const auto& [name, value] : values) attributes.set(name, value);
  return attributes;
}

struct Case {
  std::string op;
  Attributes attributes;
  Formula formula;
};

std::vector<Case> cases() {
  const auto elu = [](double x, double alpha) { return x < 0 ? alpha * std::expm1(x) : x; };
  const auto plus = [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); };
  const double selu_alpha = 1.6732632423543772, selu_gamma = 1.0507009873554805;
  Attributes tanh_form;
  tanh_form.set("approximate", std::string("tanh"));
  return {
      {"Relu", {}, [](double x) { return x > 0 ? x : 0; }},
      {"LeakyRelu", {}, [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"LeakyRelu", floats({{"alpha", 0.25}}), [](double x) { return x < 0 ? 0.25 * x : x; }},
      {"ThresholdedRelu", {}, [](double x) { return x > 1 ? x : 0; }},
      {"HardSigmoid", {}, [](double x) { return std::min(1.0, std::max(0.0, 0.2 * x + 0.5)); }},
      {"HardSwish", {}, [](double x) { return x * std::min(1.0, std::max(0.0, x / 6 + 0.5)); }},
      {"Softsign", {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"Shrink", floats({{"lambd", 1.5}, {"bias", 0.5}}),
       [](double x) { return x < -1.5  ? x + 0.5
                             : x > 1.5 ? x - 0.5
                                       : 0; }},
      {"Sigmoid", {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", {}, [](double x) { return std::tanh(x); }},
      {"Elu", floats({{"alpha", 2}}), [=](double x) { return elu(x, 2); }},
      {"Selu", {}, [=](double x) { return selu_gamma * elu(x, selu_alpha); }},
      {"Celu", floats({{"alpha", 2}}), [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }},
      {"Celu", {}, [=](double x) { return elu(x, 1); }},
      {"Gelu", {}, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"Gelu", tanh_form,
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {"Softplus", {}, plus},
      {"Mish", {}, [=](double x) { return x * std::tanh(plus(x)); }},
      {"Silu", {}, [](double x) { return x / (1 + std::exp(-x)); }},
  };
}

TEST(Activation, every_implementation_as_the_formula) {
  std::vector<double> points;
  for (int i = -400; i <= 400; ++i) points.push_back(i * 0.05);
  for (double x : {-100.0, -88.0, 88.0, 100.0, 1e-6, -1e-6, 1e-20}) points.push_back(x);
  for (const Case& c : cases())
    for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      const Tensor x = tensor_of(t, {static_cast<std::int64_t>(points.size())}, points);
      const auto in = x.to_double();
      const double tolerance = t == DType::f32   ? 1e-6
                               : t == DType::f64 ? 1e-7
                               : t == DType::f16 ? 2e-3
                                                 : 2e-2;
      for (const std::string& name : implementations_of(all_layers(), c.op, {x}, c.attributes)) {
        const auto got = run_op(all_layers(), c.op, {x}, c.attributes, 1, name)[0].to_double();
        for (std::size_t i = 0; i < in.size(); ++i) {
          const double want = c.formula(in[i]);
          // alpha of a rounded attribute: 1e-7 of the value
          ASSERT_NEAR(got[i], want, tolerance * (1e-3 + std::abs(want)) + (t == DType::f64 ? 1e-8 : 5e-7))
              << c.op << " " << name << " " << name_of(t) << " at " << in[i];
        }
      }
    }
}

TEST(Activation, not_a_number_stays) {
  const Tensor x = tensor_of(DType::f32, {20}, std::vector<double>(20, NAN));
  for (const Case& c : cases()) {
    if (c.op == "ThresholdedRelu" || c.op == "Shrink" || c.op == "HardSigmoid" || c.op == "HardSwish")
      continue;
    for (const std::string& name : implementations_of(all_layers(), c.op, {x}, c.attributes))
      EXPECT_TRUE(std::isnan(run_op(all_layers(), c.op, {x}, c.attributes, 1, name)[0].to_double()[3]))
          << c.op << " " << name;
  }
}

TEST(Activation, integers) {
  EXPECT_EQ(run_op(all_layers(), "Relu", {tensor_of(DType::i8, {3}, {-4, 0, 5})})[0].to_int64(),
            (std::vector<std::int64_t>{0, 0, 5}));
  EXPECT_EQ(run_op(all_layers(), "Shrink", {tensor_of(DType::i16, {3}, {-4, 0, 5})},
                   floats({{"lambd", 0.5}, {"bias", 1.0}}))[0]
                .to_int64(),
            (std::vector<std::int64_t>{-3, 0, 4}));
}

TEST(Activation, clip_bounds_are_optional_inputs) {
  const Tensor x = tensor_of(DType::f32, {5}, {-3, -1, 0, 2, 7});
  const Tensor low = tensor_of(DType::f32, {}, {-1.5});
  const Tensor high = tensor_of(DType::f32, {1}, {3});
  for (const std::string& name : implementations_of(all_layers(), "Clip", {x, low, high})) {
    using V = std::vector<double>;
    const auto clip = [&](const std::vector<Tensor>& in) {
      return run_op(all_layers(), "Clip", in, {}, 1, name)[0].to_double();
    };
    EXPECT_EQ(clip({x, low, high}), (V{-1.5, -1, 0, 2, 3}));
    EXPECT_EQ(clip({x, Tensor{}, high}), (V{-3, -1, 0, 2, 3}));
    EXPECT_EQ(clip({x, low}), (V{-1.5, -1, 0, 2, 7}));
    EXPECT_EQ(clip({x}), x.to_double());
    EXPECT_EQ(clip({x, high, low}), V(5, -1.5));  // the upper bound wins
  }
  const Tensor big = Tensor::scalar<std::int64_t>((std::int64_t{1} << 62) + 1);
  EXPECT_EQ(run_op(all_layers(), "Clip", {big})[0].to_int64()[0], (std::int64_t{1} << 62) + 1);
  EXPECT_THROW(run_op(all_layers(), "Clip", {x, tensor_of(DType::f32, {2}, {0, 1})}), InputError);
  EXPECT_THROW(run_op(all_layers(), "Clip", {x, tensor_of(DType::f64, {}, {0})}), InputError);
}

TEST(Activation, wrong_attributes_are_named) {
  Attributes wrong;
  wrong.set("approximate", std::string("fast"));
  const Tensor x = tensor_of(DType::f32, {1}, {0});
  try {
    run_op(all_layers(), "Gelu", {x}, wrong);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("none, tanh"), std::string::npos);
  }
  EXPECT_THROW(run_op(all_layers(), "Relu", {tensor_of(DType::u8, {1}, {0})}), InputError);
}

}  // namespace
}  // namespace espalier
