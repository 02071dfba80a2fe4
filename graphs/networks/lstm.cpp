#include <algorithm>
#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kSteps = 35;

/// PyTorch stacks the gates as input, forget, cell, output; ONNX as input, output, forget, cell.
Tensor reordered(const Tensor& gates, Shape shape) {
  constexpr std::int64_t order[] = {0, 3, 1, 2};
  Tensor out(DType::f32, std::move(shape));
  const std::span<const float> from = gates.as<float>();
  const std::int64_t block = gates.elements() / 4;
  for (std::int64_t gate = 0; gate < 4; ++gate)
    std::copy_n(from.begin() + order[gate] * block, block, out.as_mutable<float>().begin() + gate * block);
  return out;
}

/// [T, N, in] to [T, N, hidden].
ValueId recurrent(NetworkBuilder& b, ValueId x, int layer, std::int64_t hidden) {
  const auto name = [&](const char* part) { return fmt::format("rnn.{}_l{}", part, layer); };
  ParameterSource& p = b.parameters();
  const std::int64_t in = b.channels(x);
  const Tensor w = reordered(p.get(name("weight_ih"), Shape{4 * hidden, in}), Shape{1, 4 * hidden, in});
  const Tensor r =
      reordered(p.get(name("weight_hh"), Shape{4 * hidden, hidden}), Shape{1, 4 * hidden, hidden});
  Tensor bias(DType::f32, Shape{1, 8 * hidden});
  int half = 0;
  for (const char* part : {"bias_ih", "bias_hh"}) {
    const Tensor ordered = reordered(p.get(name(part), Shape{4 * hidden}), Shape{4 * hidden});
    std::copy_n(ordered.as<float>().begin(), 4 * hidden,
                bias.as_mutable<float>().begin() + half++ * 4 * hidden);
  }
  Attributes attributes;
  attributes.set("hidden_size", hidden);
  std::vector<ValueId> inputs{x, b.constant(name("weight_ih"), w), b.constant(name("weight_hh"), r),
                              b.constant(name("bias"), std::move(bias))};
  const ValueId y =
      b.node("LSTM", fmt::format("rnn.{}", layer), std::move(inputs), hidden, std::move(attributes));
  const std::int64_t axis[] = {1};  // the axis of directions, of extent 1
  const ValueId axes =
      b.constant(fmt::format("rnn.{}.axes", layer), Tensor::of<std::int64_t>(Shape{1}, axis));
  return b.node("Squeeze", "", {y, axes}, hidden);
}

ValueId swapped(NetworkBuilder& b, ValueId x) {
  Attributes attributes;
  attributes.set("perm", std::vector<std::int64_t>{1, 0, 2});
  return b.node("Transpose", "", {x}, b.channels(x), std::move(attributes));
}

}  // namespace

/// The medium regularised language model of Zaremba, Sutskever and Vinyals 2014, arXiv:1409.2329,
/// section 4.1: 2 layers of 650 units, 35 steps, 10,000 words. Parameter names are those of PyTorch's
/// word_language_model example. Dimensions follow the file: words and width from encoder.weight.
Graph build_lstm(ParameterSource& parameters) {
  NetworkBuilder b("lstm", parameters);
  const std::int64_t found = parameters.classes("encoder.weight");
  const std::int64_t words = found > 0 ? found : 10'000;
  const std::int64_t gates = parameters.classes("rnn.weight_ih_l0");
  const std::int64_t width = gates > 0 ? std::max<std::int64_t>(1, gates / 4) : 650;
  Graph& graph = b.graph();
  const ValueId input = graph.add_value("input", TensorType{DType::i64, Shape{Shape::kDynamic, kSteps}});
  graph.values[static_cast<std::size_t>(input)].dim_names = {"N", ""};
  graph.inputs.push_back(input);
  Attributes rows;
  rows.set("axis", std::int64_t{0});
  ValueId x =
      b.node("Gather", "encoder", {b.parameter("encoder.weight", Shape{words, width}), input}, width, rows);
  x = swapped(b, x);
  for (int layer = 0; layer < 2; ++layer) x = recurrent(b, x, layer, width);
  x = swapped(b, x);
  Tensor decoder(DType::f32, Shape{width, words});  // MatMul reads it as [in, out]
  const Tensor stored = parameters.get("decoder.weight", Shape{words, width});
  for (std::int64_t i = 0; i < words; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      decoder.as_mutable<float>()[static_cast<std::size_t>(j * words + i)] =
          stored.as<float>()[static_cast<std::size_t>(i * width + j)];
  x = b.node("MatMul", "decoder", {x, b.constant("decoder.weight", std::move(decoder))}, words);
  return b.finish(b.node("Add", "decoder.bias", {x, b.parameter("decoder.bias", Shape{words})}, words));
}

}  // namespace espalier
