#include "layers/recurrent/recurrent.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

struct Case {
  std::string op = "LSTM";
  std::int64_t steps = 4, batch = 2, inputs = 3, hidden = 5;
  std::string direction = "forward";
  bool batch_first = false, bias = false, lengths = false, initial_h = false, initial_c = false,
       peepholes = false, linear = false, couple = false;
  float clip = 0;
  std::vector<std::string> activations;
  std::vector<double> alpha, beta;
  std::vector<Tensor> data;
  std::int64_t gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  std::int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  Tensor t(DType::f32, shape);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& v : t.as_mutable<float>()) v = uniform(random);
  return t;
}

void fill(Case& c, std::mt19937& random) {
  const std::int64_t d = c.directions(), g = c.gates() * c.hidden;
  const Shape state = c.batch_first ? Shape{c.batch, d, c.hidden} : Shape{d, c.batch, c.hidden};
  const auto optional = [&](bool given, const Shape& s) {
    return given ? random_tensor(s, random) : Tensor{};
  };
  c.data = {
      random_tensor(c.batch_first ? Shape{c.batch, c.steps, c.inputs} : Shape{c.steps, c.batch, c.inputs},
                    random),
      random_tensor({d, g, c.inputs}, random), random_tensor({d, g, c.hidden}, random),
      optional(c.bias, {d, 2 * g})};
  c.data.emplace_back();
  if (c.lengths) {
    c.data[4] = Tensor(DType::i32, Shape{c.batch});
    for (auto& n : c.data[4].as_mutable<std::int32_t>())
      n = std::uniform_int_distribution<std::int32_t>(0, static_cast<std::int32_t>(c.steps))(random);
  }
  c.data.push_back(optional(c.initial_h, state));
  if (c.op == "LSTM") {
    c.data.push_back(optional(c.initial_c, state));
    c.data.push_back(optional(c.peepholes, {d, 3 * c.hidden}));
  }
}

Attributes attributes_of(const Case& c) {
  Attributes a;
  a.set("hidden_size", c.hidden);
  a.set("direction", c.direction);
  a.set("layout", std::int64_t{c.batch_first});
  if (c.clip > 0) a.set("clip", double{c.clip});
  if (!c.activations.empty()) a.set("activations", c.activations);
  if (!c.alpha.empty()) a.set("activation_alpha", c.alpha);
  if (!c.beta.empty()) a.set("activation_beta", c.beta);
  if (c.op == "LSTM") a.set("input_forget", std::int64_t{c.couple});
  if (c.op == "GRU") a.set("linear_before_reset", std::int64_t{c.linear});
  return a;
}

std::vector<Tensor> run(const Case& c, bool reference) {
  Graph graph;
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < c.data.size(); ++i) inputs.push_back(graph.add_value("x" + std::to_string(i)));
  std::vector<std::string> outputs{"Y", "Y_h"};
  if (c.op == "LSTM") outputs.push_back("Y_c");
  const Node node = graph.add_node(c.op, "node", inputs, outputs, attributes_of(c));
  KernelOptions options;
  options.reference_only = reference;
  return evaluate_node(graph, node, all_layers(), c.data, options);
}

// ---- ONNX's equations, transcribed with vectors of double

using Vec = std::vector<double>;
using Function = std::function<double(double)>;

Vec add(const Vec& a, const Vec& b) {
  Vec out(a);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] += b[i];
  return out;
}
Vec times(const Vec& a, const Vec& b) {
  Vec out(a);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] *= b[i];
  return out;
}
Vec one_minus(Vec a) {
  for (double& v : a) v = 1 - v;
  return a;
}

class Transcription {
 public:
  Transcription(const Case& c, std::int64_t d) : c_(c), d_(d) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    const auto tanh = [](double x) { return std::tanh(x); };
    std::map<std::string, Function> named{
        {"Sigmoid", sigmoid},
        {"Tanh", tanh},
        {"Relu", [](double x) { return std::max(0.0, x); }},
        {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
        {"HardSigmoid", [](double x) { return std::min(1.0, std::max(0.0, 0.3 * x + 0.4)); }},
        {"LeakyRelu", [](double x) { return x < 0 ? 0.05 * x : x; }}};
    std::vector<std::string> names = c.activations;
    if (names.empty())
      names = c.op == "RNN" ? std::vector<std::string>{"Tanh", "Tanh"}
              : c.op == "GRU"
                  ? std::vector<std::string>{"Sigmoid", "Tanh", "Sigmoid", "Tanh"}
                  : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Tanh", "Tanh"};
    const std::size_t per = c.op == "RNN" ? 1 : c.op == "GRU" ? 2 : 3;
    for (std::size_t i = 0; i < per; ++i)
      f_.push_back(named.at(names[static_cast<std::size_t>(d) * per + i]));
  }

  /// x W_g^T + Wb_g, state R_g^T + Rb_g
  Vec w(const Vec& x, std::int64_t g) const { return affine(x, 1, g, g); }
  Vec r(const Vec& h, std::int64_t g) const { return affine(h, 2, g, c_.gates() + g); }
  Vec p(std::int64_t which) const {
    Vec out(static_cast<std::size_t>(c_.hidden), 0.0);
    if (c_.peepholes)
      for (std::int64_t j = 0; j < c_.hidden; ++j)
        out[static_cast<std::size_t>(j)] = at(7, (d_ * 3 + which) * c_.hidden + j);
    return out;
  }
  Vec act(std::size_t which, Vec x, bool clipped = true) const {
    for (double& v : x) {
      if (clipped && c_.clip > 0) v = std::min<double>(c_.clip, std::max<double>(-c_.clip, v));
      v = f_[which](v);
    }
    return x;
  }

  void step(const Vec& x, Vec& h, Vec& c) const {
    if (c_.op == "RNN") {
      h = act(0, add(w(x, 0), r(h, 0)));
    } else if (c_.op == "GRU") {
      const Vec z = act(0, add(w(x, 0), r(h, 0))), reset = act(0, add(w(x, 1), r(h, 1)));
      const Vec candidate = c_.linear ? act(1, add(w(x, 2), times(reset, r(h, 2))))
                                      : act(1, add(w(x, 2), r(times(reset, h), 2)));
      h = add(times(one_minus(z), candidate), times(z, h));
    } else {
      const Vec i = act(0, add(add(w(x, 0), r(h, 0)), times(p(0), c)));
      const Vec f = c_.couple ? one_minus(i) : act(0, add(add(w(x, 2), r(h, 2)), times(p(2), c)));
      c = add(times(f, c), times(i, act(1, add(w(x, 3), r(h, 3)))));
      const Vec o = act(0, add(add(w(x, 1), r(h, 1)), times(p(1), c)));
      h = times(o, act(2, c, false));
    }
  }

 private:
  double at(std::size_t input, std::int64_t i) const {
    return c_.data[input].as<float>()[static_cast<std::size_t>(i)];
  }
  Vec affine(const Vec& x, std::size_t input, std::int64_t gate, std::int64_t bias_block) const {
    Vec out;
    for (std::int64_t j = 0; j < c_.hidden; ++j) {
      const std::int64_t row = (d_ * c_.gates() + gate) * c_.hidden + j;
      double sum = c_.bias ? at(3, (d_ * 2 * c_.gates() + bias_block) * c_.hidden + j) : 0;
      for (std::size_t k = 0; k < x.size(); ++k)
        sum += x[k] * at(input, row * static_cast<std::int64_t>(x.size()) + static_cast<std::int64_t>(k));
      out.push_back(sum);
    }
    return out;
  }

  const Case& c_;
  std::int64_t d_;
  std::vector<Function> f_;
};

void expect_row(const Tensor& got, std::int64_t row, const Vec& want, double tolerance) {
  for (std::size_t j = 0; j < want.size(); ++j)
    ASSERT_NEAR(got.as<float>()[static_cast<std::size_t>(row) * want.size() + j], want[j],
                tolerance * std::max(1.0, std::abs(want[j])))
        << "row " << row << " unit " << j;
}

void expect_transcription(const Case& c, const std::vector<Tensor>& got, double tolerance) {
  const auto load = [&](std::size_t i, std::int64_t row, std::int64_t n) {
    Vec v(static_cast<std::size_t>(n), 0.0);
    if (i < c.data.size() && c.data[i].data() != nullptr)
      for (std::size_t j = 0; j < v.size(); ++j)
        v[j] = c.data[i].as<float>()[static_cast<std::size_t>(row * n) + j];
    return v;
  };
  for (std::int64_t d = 0; d < c.directions(); ++d)
    for (std::int64_t b = 0; b < c.batch; ++b) {
      const Transcription cell(c, d);
      const std::int64_t state = c.batch_first ? b * c.directions() + d : d * c.batch + b;
      const std::int64_t length =
          c.lengths ? c.data[4].as<std::int32_t>()[static_cast<std::size_t>(b)] : c.steps;
      const bool backward = c.direction == "reverse" || d == 1;
      Vec h = load(5, state, c.hidden), cs = load(6, state, c.hidden);
      for (std::int64_t s = 0; s < c.steps; ++s) {
        const std::int64_t t = backward && s < length ? length - 1 - s : s;
        if (s < length)
          cell.step(load(0, c.batch_first ? b * c.steps + t : t * c.batch + b, c.inputs), h, cs);
        const std::int64_t y =
            c.batch_first ? (b * c.steps + t) * c.directions() + d : (t * c.directions() + d) * c.batch + b;
        expect_row(got[0], y, s < length ? h : Vec(h.size(), 0.0), tolerance);
      }
      expect_row(got[1], state, h, tolerance);
      if (c.op == "LSTM") expect_row(got[2], state, cs, tolerance);
    }
}

Case random_case(std::mt19937& random) {
  const auto coin = [&] { return std::uniform_int_distribution<int>(0, 1)(random) == 1; };
  const auto pick = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(random); };
  Case c;
  c.op = std::array{"LSTM", "GRU", "RNN"}[static_cast<std::size_t>(pick(0, 2))];
  c.steps = pick(1, 9);
  c.batch = pick(1, 11);
  c.inputs = pick(1, 9);
  c.hidden = pick(1, 40);
  c.direction = std::array{"forward", "reverse", "bidirectional"}[static_cast<std::size_t>(pick(0, 2))];
  c.batch_first = coin();
  c.bias = coin();
  c.lengths = coin();
  c.initial_h = coin();
  c.initial_c = coin();
  c.peepholes = c.op == "LSTM" && coin();
  c.linear = c.op == "GRU" && coin();
  c.couple = c.op == "LSTM" && pick(0, 3) == 0;
  if (pick(0, 3) == 0) c.clip = 0.4F;
  if (pick(0, 2) == 0) {
    const std::int64_t n = c.directions() * (c.op == "LSTM" ? 3 : c.op == "GRU" ? 2 : 1);
    constexpr const char* kNames[] = {"Sigmoid", "Tanh", "Softsign", "HardSigmoid", "LeakyRelu"};
    for (std::int64_t i = 0; i < n; ++i) {
      c.activations.emplace_back(kNames[pick(0, c.op == "RNN" ? 4 : 3)]);  // gates must be bounded
      // only the ones that take a parameter consume one
      if (c.activations.back() == "HardSigmoid") c.alpha.push_back(0.3), c.beta.push_back(0.4);
      if (c.activations.back() == "LeakyRelu") c.alpha.push_back(0.05);
    }
  }
  fill(c, random);
  for (float& v : c.data[2].as_mutable<float>()) v /= static_cast<float>(c.hidden);  // contracting
  return c;
}

TEST(Recurrent, BothImplementationsFollowTheEquations) {
  std::mt19937 random(17);
  for (int i = 0; i < 150; ++i) {
    const Case c = random_case(random);
    SCOPED_TRACE(c.op + " " + c.direction + " case " + std::to_string(i));
    expect_transcription(c, run(c, true), 2e-6);
    expect_transcription(c, run(c, false), 2e-5);
    if (HasFatalFailure()) return;
  }
}

TEST(Recurrent, LongSequencesRunInChunks) {
  std::mt19937 random(18);
  for (const char* op : {"LSTM", "GRU"}) {
    Case c;
    c.op = op;
    c.steps = 300;
    c.batch = 9;
    c.hidden = 33;
    c.direction = "bidirectional";
    c.batch_first = true;
    c.lengths = true;
    c.linear = true;
    fill(c, random);
    for (float& v : c.data[2].as_mutable<float>()) v *= 0.2F;  // contracting, so that rounding does not grow
    expect_transcription(c, run(c, false), 2e-5);
  }
}

TEST(Recurrent, NoStepsLeaveTheInitialState) {
  std::mt19937 random(19);
  Case c;
  c.steps = 0;
  c.initial_h = c.initial_c = true;
  fill(c, random);
  const auto out = run(c, false);
  EXPECT_EQ(out[0].shape(), (Shape{0, 1, 2, 5}));
  EXPECT_EQ(out[1].as<float>()[3], c.data[5].as<float>()[3]);
  EXPECT_EQ(out[2].as<float>()[3], c.data[6].as<float>()[3]);
}

TEST(Recurrent, BadInputIsRefused) {
  std::mt19937 random(20);
  const auto refused = [&](auto&& change) {
    Case c;
    fill(c, random);
    change(c);
    EXPECT_THROW(run(c, false), InputError);
  };
  refused([&](Case& c) { c.data[1] = random_tensor({1, 20, 4}, random); });
  refused([&](Case& c) { c.data[2] = random_tensor({1, 19, 5}, random); });
  refused([&](Case& c) { c.data[0] = random_tensor({4, 2}, random); });
  refused([&](Case& c) { c.data[5] = random_tensor({1, 1, 5}, random); });
  refused([&](Case& c) { c.hidden = 6; });
  refused([](Case& c) { c.direction = "backward"; });
  refused([](Case& c) { c.activations = {"Sigmoid", "Tanh"}; });
  refused([](Case& c) { c.activations = {"Sigmoid", "Tanh", "Swish"}; });
  refused([](Case& c) {
    c.data[4] = Tensor(DType::i32, Shape{2});
    c.data[4].as_mutable<std::int32_t>()[1] = 5;
  });
}

}  // namespace
}  // namespace espalier
