#include "experiments/classify/classifier.hpp"

#include <fmt/format.h>

#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "graphs/networks/network_list.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"

namespace espalier {
namespace {

[[noreturn]] void refuse(const Classifier& c, const std::string& why) {
  throw InputError(fmt::format("{}: not an image classifier: {}", c.name, why));
}

/// The graph with an input [N, H, W, 3] and a Transpose to what the file has; the passes cancel it.
Graph with_channels_last_input(Graph graph) {
  const ValueId old = graph.inputs[0];
  Value& before = graph.values[static_cast<std::size_t>(old)];
  TensorType type = *before.type;
  type.shape = Shape{type.shape[0], type.shape[2], type.shape[3], type.shape[1]};
  std::vector<std::string> names = before.dim_names;
  if (names.size() == 4) names = {names[0], names[2], names[3], names[1]};
  const ValueId input =
      graph.add_value(graph.values[static_cast<std::size_t>(old)].name + ".channels_last", type);
  graph.values[static_cast<std::size_t>(input)].dim_names = std::move(names);
  Node transpose;
  transpose.name = "espalier.input.to_channels_first";
  transpose.op = "Transpose";
  transpose.inputs = {input};
  transpose.outputs = {old};
  transpose.attributes.set("perm", std::vector<std::int64_t>{0, 3, 1, 2});
  graph.nodes.insert(graph.nodes.begin(), std::move(transpose));
  graph.inputs[0] = input;
  return graph;
}

/// What the last operator says of the scores, looking through operators that only change the shape.
OutputKind kind_of_output(const Graph& graph) {
  const auto producers = graph.producers();
  for (ValueId v = graph.outputs[0]; producers[static_cast<std::size_t>(v)] >= 0;) {
    const Node& node = graph.nodes[static_cast<std::size_t>(producers[static_cast<std::size_t>(v)])];
    if (node.op == "Softmax") return OutputKind::probabilities;
    if (node.op == "LogSoftmax") return OutputKind::log_probabilities;
    if (node.op != "Reshape" && node.op != "Flatten" && node.op != "Squeeze" && node.op != "Identity") break;
    v = node.inputs[0];
  }
  return OutputKind::logits;
}

/// Binds one image to learn the shape of the scores.
void learn_output(Classifier& c, const LayerTable& layers) {
  Binding binding;
  binding.batch = 1;
  const Graph bound = bind(c.graph, layers, binding);
  const Shape& scores = bound.type(bound.outputs[0]).shape;
  c.classes = scores.elements();
  if (bound.type(bound.outputs[0]).dtype != DType::f32 || scores.rank() < 1 || c.classes < 1 ||
      scores.elements() != scores[scores.rank() > 1 ? 1 : 0])
    refuse(c, fmt::format("output {} is {}; one float32 vector of class scores a sample is needed",
                          bound.values[static_cast<std::size_t>(bound.outputs[0])].name,
                          bound.type(bound.outputs[0]).to_string()));
  c.kind = kind_of_output(bound);
}

}  // namespace

Classifier classifier_from_onnx(const std::string& path, const LayerTable& layers) {
  Classifier c;
  c.name = path;
  c.preprocessing = preprocessing_named("imagenet");
  c.graph = import_onnx(path, layers);
  if (c.graph.inputs.size() != 1)
    refuse(c, fmt::format("it has {} inputs, one image is needed", c.graph.inputs.size()));
  const Value& input = c.graph.values[static_cast<std::size_t>(c.graph.inputs[0])];
  const auto needed = [&](const std::string& found) {
    refuse(c,
           fmt::format("input {} is {}; float32 [N, 3, H, W] or [N, H, W, 3] is needed", input.name, found));
  };
  if (!input.type) needed("without a type");
  const Shape& shape = input.type->shape;
  if (input.type->dtype != DType::f32 || shape.rank() != 4 || (shape[1] != 3 && shape[3] != 3))
    needed(input.type->to_string());
  if (shape[0] > 1)
    refuse(c, fmt::format(
                  "input {} is {}: its batch is fixed to {}; export it with a dynamic batch or a batch of 1",
                  input.name, input.type->to_string(), shape[0]));
  if (shape[1] == 3) c.graph = with_channels_last_input(std::move(c.graph));
  Value& image = c.graph.values[static_cast<std::size_t>(c.graph.inputs[0])];
  for (int axis = 1; axis <= 2; ++axis)
    if (image.type->shape[axis] < 1)
      image.type->shape[axis] = 224;  // not in the file: what nearly all classifiers were trained on
  c.height = image.type->shape[1];
  c.width = image.type->shape[2];
  learn_output(c, layers);
  return c;
}

Classifier classifier_from_network(const std::string& network, const std::string& weights,
                                   const LayerTable& layers) {
  Classifier c;
  c.name = network;
  if (network_named(network).image_size == 0) refuse(c, "its input is no image");
  NetworkSource source = load_network(network, layers, {weights, std::nullopt});
  const NetworkEntry& entry = *source.network;
  c.preprocessing = preprocessing_of(entry);
  c.graph = std::move(source.graph);
  c.warnings = std::move(source.warnings);
  c.height = c.width = entry.image_size;
  learn_output(c, layers);
  return c;
}

}  // namespace espalier
