#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "graphs/ir/npy.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/shared_data.hpp"

/// Whole exported networks against stored outputs, as imported and optimised.
namespace espalier {
namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.type(), b.type());
  const auto x = a.as<float>();
  const auto y = b.as<float>();
  double largest = 0;
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
    largest = std::max(largest, std::isfinite(x[i]) ? std::fabs(double(x[i]) - y[i]) : INFINITY);
  return largest;
}

double largest(const Tensor& t) {
  double m = 0;
  for (float v : t.as<float>()) m = std::max(m, std::fabs(double(v)));
  return m;
}

int count(const Graph& graph, std::string_view op) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; }));
}

class StoredModel : public testing::TestWithParam<const char*> {};

TEST_P(StoredModel, GivesTheStoredOutput) {
  const std::string name = GetParam();
  ESPALIER_SHARED_OR_SKIP(path, "models/" + name + ".onnx");
  const Graph imported = import_onnx(path, all_layers());
  const Tensor input = read_npy(path.parent_path() / (name + ".input.npy"));
  const Tensor expected = read_npy(path.parent_path() / (name + ".output.npy"));
  Binding binding;
  const std::string input_name = imported.values[imported.inputs[0]].name;
  binding.shapes[input_name] = input.shape();
  Graph graph = bind(imported, all_layers(), binding);
  const auto plain = evaluate(graph, all_layers(), {{input_name, input}});
  const std::string output_name = graph.values[graph.outputs[0]].name;
  EXPECT_LE(largest_difference(plain.at(output_name), expected), 1e-4 * largest(expected));
  optimise(graph, all_layers());
  const auto better = evaluate(graph, all_layers(), {{input_name, input}});
  EXPECT_LE(largest_difference(better.at(output_name), expected), 1e-4 * largest(expected));
}

INSTANTIATE_TEST_SUITE_P(Models, StoredModel,
                         testing::Values("mobilenet_v2", "squeezenet1_0", "googlenet", "efficientnet_b0",
                                         "lstm_unidirectional", "gru_bidirectional", "rnn_unidirectional"));

class ImageNetwork : public testing::TestWithParam<const char*> {};

TEST_P(ImageNetwork, IsChannelsLastThroughout) {
  ESPALIER_SHARED_OR_SKIP(path, std::string("models/") + GetParam() + ".onnx");
  Binding two;
  two.batch = 2;
  Graph graph = bind(import_onnx(path, all_layers()), all_layers(), two);
  optimise(graph, all_layers());
  EXPECT_EQ(count(graph, "Transpose"), 1);  // the input's
  EXPECT_EQ(graph.nodes[0].op, "Transpose");
  for (const char* op : {"Relu", "Clip", "Sigmoid", "BatchNormalization", "Identity"})
    EXPECT_EQ(count(graph, op), 0) << op;
}

INSTANTIATE_TEST_SUITE_P(Models, ImageNetwork,
                         testing::Values("mobilenet_v2", "squeezenet1_0", "googlenet", "efficientnet_b0"));

/// 32 frames of 576 samples; the state goes from frame to frame, zeros first.
void run_silero(bool optimised) {
  ESPALIER_SHARED_OR_SKIP(path, "models/silero_vad.onnx");
  const Tensor frames = read_npy(path.parent_path() / "silero_vad.input_frames.npy");
  const Tensor probabilities = read_npy(path.parent_path() / "silero_vad.output_probability.npy");
  const Tensor final_state = read_npy(path.parent_path() / "silero_vad.final_state.npy");
  Graph graph = bind(import_onnx(path, all_layers()), all_layers(), {});
  if (optimised) optimise(graph, all_layers());
  const std::string probability_name = graph.values[graph.outputs[0]].name;
  const std::string state_name = graph.values[graph.outputs[1]].name;
  Tensor state(DType::f32, {2, 1, 128});
  const std::int64_t samples = 576;
  for (std::int64_t i = 0; i < frames.elements() / samples; ++i) {
    const Tensor frame = Tensor::of<float>({1, samples}, frames.as<float>().subspan(i * samples, samples));
    const auto out = evaluate(graph, all_layers(), {{"input", frame}, {"state", state}});
    EXPECT_NEAR(out.at(probability_name).as<float>()[0], probabilities.as<float>()[i], 1e-5) << "frame " << i;
    state = out.at(state_name);
  }
  EXPECT_LE(largest_difference(state.reshaped(final_state.shape()), final_state), 1e-5);
}

TEST(Silero, CarriesItsState) {
  run_silero(false);
}

TEST(Silero, CarriesItsStateOptimised) {
  run_silero(true);
}

}  // namespace
}  // namespace espalier
