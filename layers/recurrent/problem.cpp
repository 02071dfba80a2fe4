#include "layers/recurrent/problem.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// ONNX's activations of recurrent cells with their default parameters, and which of them they take.
struct KnownActivation {
  std::string_view op;
  bool alpha, beta;
  ActivationParameters defaults;
};
constexpr std::array<KnownActivation, 11> kActivations = {{{"Relu", false, false, {}},
                                                           {"Tanh", false, false, {}},
                                                           {"Sigmoid", false, false, {}},
                                                           {"Affine", true, true, {1, 0}},
                                                           {"LeakyRelu", true, false, {0.01, 0}},
                                                           {"ThresholdedRelu", true, false, {1, 0}},
                                                           {"ScaledTanh", true, true, {1, 1}},
                                                           {"HardSigmoid", true, true, {0.2, 0.5}},
                                                           {"Elu", true, false, {1, 0}},
                                                           {"Softsign", false, false, {}},
                                                           {"Softplus", false, false, {}}}};

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

const KnownActivation& find_activation(const std::string& name) {
  std::string known;
  for (const KnownActivation& a : kActivations) {
    if (same_letters(a.op, name)) return a;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", a.op);
  }
  throw InputError(fmt::format("activation \"{}\" is not known; accepted are {}", name, known));
}

/// Parameters are consumed in order by the activations that take them.
std::vector<CellActivation> activations_of(const NodeView& view, std::vector<std::string> defaults,
                                           std::size_t directions) {
  const std::size_t per_direction = defaults.size();
  std::vector<std::string> names = view.attributes().get_strings("activations");
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != per_direction * directions)
    throw InputError(fmt::format("activations has {} entries; {} for each of {} directions are needed",
                                 names.size(), per_direction, directions));
  const std::vector<double> alpha = view.attributes().get_floats("activation_alpha");
  const std::vector<double> beta = view.attributes().get_floats("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<CellActivation> out;
  for (const std::string& name : names) {
    const KnownActivation& known = find_activation(name);
    CellActivation a{known.op, known.defaults, activation_row(known.op)};
    if (known.alpha && next_alpha < alpha.size()) a.parameters.alpha = alpha[next_alpha++];
    if (known.beta && next_beta < beta.size()) a.parameters.beta = beta[next_beta++];
    if (a.row == nullptr) throw InternalError(fmt::format("activation {} has no row", known.op));
    out.push_back(a);
  }
  return out;
}

RecurrentProblem::Kind kind_of(const NodeView& view) {
  if (view.op() == "LSTM") return RecurrentProblem::Kind::lstm;
  return view.op() == "GRU" ? RecurrentProblem::Kind::gru : RecurrentProblem::Kind::rnn;
}

std::vector<bool> directions_of(const NodeView& view) {
  const std::string direction = view.attributes().get_string("direction", "forward");
  if (direction == "forward") return {false};
  if (direction == "reverse") return {true};
  if (direction == "bidirectional") return {false, true};
  throw InputError(
      fmt::format("direction is \"{}\"; accepted are forward, reverse, bidirectional", direction));
}

void require_shape(const NodeView& view, std::size_t i, const char* what, const Shape& needed) {
  if (!view.has_input(i)) {
    if (i <= RecurrentProblem::kR) throw InputError(fmt::format("input {} ({}) is missing", i, what));
    return;
  }
  if (view.shape(i) != needed)
    throw InputError(fmt::format("{} has shape {}; {} is needed (X is {})", what, view.shape(i).to_string(),
                                 needed.to_string(), view.shape(0).to_string()));
  const DType want = i == RecurrentProblem::kLengths ? DType::i32 : view.inputs[0]->dtype;
  if (view.inputs[i]->dtype != want)
    throw InputError(
        fmt::format("{} is {}; {} is needed", what, name_of(view.inputs[i]->dtype), name_of(want)));
}

}  // namespace

RecurrentProblem::RecurrentProblem(const NodeView& view) : kind(kind_of(view)), reverse(directions_of(view)) {
  if (!view.has_input(kX) || view.shape(kX).rank() != 3)
    throw InputError(fmt::format("X has shape {}; three axes are needed",
                                 view.has_input(kX) ? view.shape(kX).to_string() : "(missing)"));
  const Shape& x = view.shape(kX);
  const std::int64_t layout = view.attributes().get_int("layout", 0);
  if (layout != 0 && layout != 1)
    throw InputError(fmt::format("layout is {}; accepted are 0 (time first), 1 (batch first)", layout));
  batch_first = layout == 1;
  steps = x[batch_first ? 1 : 0];
  batch = x[batch_first ? 0 : 1];
  inputs = x[2];
  directions = static_cast<std::int64_t>(reverse.size());
  gates = kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1;
  dtype = view.inputs[kX]->dtype;
  if (!is_float(dtype))
    throw InputError(fmt::format("X is {}; a floating-point type is needed", view.inputs[kX]->to_string()));
  if (!view.has_input(kR) || view.shape(kR).rank() != 3)
    throw InputError("R must have three axes [directions, gates x hidden, hidden]");
  hidden = view.shape(kR)[2];
  if (view.attributes().get_int("hidden_size", hidden) != hidden)
    throw InputError(fmt::format("hidden_size is {} but R has shape {}",
                                 view.attributes().get_int("hidden_size"), view.shape(kR).to_string()));
  require_shape(view, kW, "W", {directions, gates * hidden, inputs});
  require_shape(view, kR, "R", {directions, gates * hidden, hidden});
  require_shape(view, kBias, "B", {directions, 2 * gates * hidden});
  require_shape(view, kLengths, "sequence_lens", {batch});
  require_shape(view, kInitialH, "initial_h", state_shape());
  if (kind == Kind::lstm) {
    require_shape(view, kInitialC, "initial_c", state_shape());
    require_shape(view, kPeepholes, "P", {directions, 3 * hidden});
  }
  for (std::size_t i = 0; i < view.inputs.size(); ++i) present.push_back(view.has_input(i));

  std::vector<std::string> defaults{"Sigmoid", "Tanh", "Tanh"};
  if (kind == Kind::gru) defaults = {"Sigmoid", "Tanh"};
  if (kind == Kind::rnn) defaults = {"Tanh"};
  const auto clip = static_cast<float>(view.attributes().get_float("clip", 0));
  if (!(clip >= 0)) throw InputError(fmt::format("clip is {}; it must be positive", clip));
  const auto activations = activations_of(view, defaults, reverse.size());
  for (std::size_t d = 0; d < reverse.size(); ++d) {
    CellOptions cell;
    cell.hidden = hidden;
    cell.clip = clip;
    cell.input_forget = view.attributes().get_int("input_forget", 0) != 0;
    cell.linear_before_reset = view.attributes().get_int("linear_before_reset", 0) != 0;
    CellActivation* slots[] = {&cell.f, &cell.g, &cell.h};
    cell.standard = clip == 0;
    for (std::size_t a = 0; a < defaults.size(); ++a) {
      *slots[a] = activations[d * defaults.size() + a];
      cell.standard = cell.standard && slots[a]->op == defaults[a];
    }
    cells.push_back(cell);
  }
}

Shape RecurrentProblem::y_shape() const {
  return batch_first ? Shape{batch, steps, directions, hidden} : Shape{steps, directions, batch, hidden};
}

Shape RecurrentProblem::state_shape() const {
  return batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
}

std::int64_t sequence_length(const RecurrentProblem& problem, const void* lengths, std::int64_t b) {
  if (lengths == nullptr) return problem.steps;
  const std::int64_t length = static_cast<const std::int32_t*>(lengths)[b];
  if (length < 0 || length > problem.steps)
    throw InputError(
        fmt::format("sequence_lens[{}] is {}; it must lie in [0, {}]", b, length, problem.steps));
  return length;
}

}  // namespace espalier
