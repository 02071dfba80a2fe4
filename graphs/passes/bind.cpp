#include "graphs/passes/bind.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "graphs/base/error.hpp"
#include "graphs/passes/bind_inputs.hpp"
#include "graphs/passes/fold_constants.hpp"
#include "graphs/passes/types.hpp"

namespace espalier {
namespace {

/// Walks the nodes in order and builds the bound graph. `ids` translates values of the graph walked (the
/// model's, or a branch of an If) to values of the graph built.
class Binder {
 public:
  Binder(const LayerTable& layers, const Binding& binding)
      : layers_(layers), binding_(binding), folder_(layers, binding.max_folded_bytes) {}

  Graph run(const Graph& source) {
    out_ = source;
    out_.nodes.clear();
    out_.onnx_order = false;
    onnx_order_ = source.onnx_order;
    bind_inputs(out_, binding_);
    rebatched_ = is_rebatched(source);
    for (ValueId v : out_.inputs) check_size(*out_.values[v].type, "graph input " + out_.values[v].name);
    std::vector<ValueId> ids(source.values.size());
    std::iota(ids.begin(), ids.end(), 0);
    walk(source, ids);
    for (ValueId& v : out_.outputs) v = named_output(v, ids[v]);
    make_names_unique(out_);
    out_.validate();
    return std::move(out_);
  }

 private:
  /// Whether the model was exported for one sample and gets a batch now.
  bool is_rebatched(const Graph& source) const {
    const auto one = [&](ValueId v) {
      const auto& declared = source.values[v].type;
      return declared && declared->shape.rank() > 0 && declared->shape[0] == 1 &&
             out_.values[v].type->shape[0] == binding_.batch;
    };
    return binding_.batch > 1 && std::any_of(source.inputs.begin(), source.inputs.end(), one);
  }

  /// A model exported for one sample reshapes to [1, ...]; with a batch that would run the samples into one.
  void widen_reshape(Node& node) {
    const Tensor* target = node.inputs.size() == 2 ? out_.constant(node.inputs[1]) : nullptr;
    if (target == nullptr || node.inputs[0] == kAbsent || target->shape().rank() != 1) return;
    const Shape& shape = out_.type(node.inputs[0]).shape;
    std::vector<std::int64_t> dims = target->to_int64();
    if (dims.size() < 2 || dims[0] != 1 || shape.rank() < 2 || shape[0] != binding_.batch) return;
    dims[0] = binding_.batch;
    node.inputs[1] =
        out_.add_constant(node.name + "/batched", Tensor::of<std::int64_t>(target->shape(), dims));
  }

  void walk(const Graph& source, std::vector<ValueId>& ids) {
    const auto translate = [&](std::vector<ValueId>& list) {
      for (ValueId& v : list)
        if (v != kAbsent) v = ids[v];
    };
    for (const Node& original : source.nodes) {
      Node node = original;
      translate(node.inputs);
      if (node.op == "If") {
        inline_branch(original, node, ids);
      } else {
        translate(node.outputs);
        add(std::move(node));
      }
    }
  }

  /// Puts the nodes of the chosen branch in place of the If; its outputs then stand for those of the If.
  void inline_branch(const Node& original, const Node& node, std::vector<ValueId>& ids) {
    const Tensor* condition = node.inputs.empty() ? nullptr : out_.constant(node.inputs[0]);
    if (condition == nullptr || condition->elements() != 1 || condition->dtype() != DType::boolean)
      throw InputError(
          fmt::format("node {} (If): the condition must be known when the graph is bound; control flow "
                      "that depends on run-time data is not supported",
                      node.name));
    const bool then = condition->to_int64()[0] != 0;
    const Graph& body = *node.bodies.at(then ? 0 : 1);
    const std::size_t first = 1 + (then ? 0 : node.bodies[0]->inputs.size());
    std::vector<ValueId> inner(body.values.size());
    for (std::size_t v = 0; v < body.values.size(); ++v) {
      inner[v] = static_cast<ValueId>(out_.values.size());
      out_.values.push_back(body.values[v]);
    }
    for (std::size_t i = 0; i < body.inputs.size(); ++i) inner[body.inputs[i]] = node.inputs.at(first + i);
    walk(body, inner);
    for (std::size_t i = 0; i < original.outputs.size(); ++i)
      if (original.outputs[i] != kAbsent) ids[original.outputs[i]] = inner[body.outputs[i]];
  }

  /// The value for a graph output: `found`, under the output's own name. The two differ behind an If.
  ValueId named_output(ValueId output, ValueId found) {
    if (found == output) return output;
    place({out_.values[output].name + "/output", "Identity", {}, {found}, {output}, {}, {}});
    return output;
  }

  void add(Node node) {
    if (node.op == "Shape" || node.op == "Size") return fold_shape(node);
    if (node.attributes.has("broadcast_axis")) align_operand(node);
    if (rebatched_ && node.op == "Reshape") widen_reshape(node);
    const Layer& layer = layers_.at(node);
    const bool spatial = onnx_order_ && layer.layout == LayoutRule::channels_last && !node.inputs.empty() &&
                         node.inputs[0] != kAbsent && out_.type(node.inputs[0]).shape.rank() > 2;
    if (spatial)
      bracket(std::move(node));
    else
      place(std::move(node));
  }

  /// Opset 6: axis 0 of the second operand lies at this axis of the first one; axes of extent 1 fill up
  /// behind.
  void align_operand(Node& node) {
    const std::int64_t given = node.attributes.get_int("broadcast_axis");
    node.attributes.erase("broadcast_axis");
    if (node.inputs.size() < 2 || node.inputs[0] == kAbsent || node.inputs[1] == kAbsent) return;
    const int rank = out_.type(node.inputs[0]).shape.rank();
    const TensorType& operand = out_.type(node.inputs[1]);
    if (operand.shape.elements() == 1) return;
    std::vector<std::int64_t> dims = operand.shape.dims();
    const auto wanted = static_cast<std::size_t>(rank - normalise_axis(given, std::max(rank, 1)));
    if (dims.size() >= wanted) return;
    dims.resize(wanted, 1);
    const std::string name = node.name + "/aligned";
    const Shape size{static_cast<std::int64_t>(dims.size())};
    const ValueId target = out_.add_constant(name + "/shape", Tensor::of<std::int64_t>(size, dims));
    const ValueId aligned = out_.add_value(name);
    place({name, "Reshape", {}, {node.inputs[1], target}, {aligned}, {}, {}});
    node.inputs[1] = aligned;
  }

  /// [N, C, spatial...] in front and behind, [N, spatial..., C] inside.
  void bracket(Node node) {
    const int rank = out_.type(node.inputs[0]).shape.rank();
    std::vector<std::int64_t> to_last(static_cast<std::size_t>(rank));
    std::iota(to_last.begin(), to_last.end(), 0);
    std::vector<std::int64_t> to_first = to_last;
    std::rotate(to_last.begin() + 1, to_last.begin() + 2, to_last.end());
    std::rotate(to_first.begin() + 1, to_first.end() - 1, to_first.end());
    node.inputs[0] = transpose(node.name + "/to_channels_last", node.inputs[0], to_last);
    std::vector<ValueId> outer = node.outputs;
    const std::string name = node.name;
    for (ValueId& v : node.outputs)
      if (v != kAbsent) v = out_.add_value(out_.values[v].name + "/channels_last");
    const std::vector<ValueId> inner = node.outputs;
    place(std::move(node));
    for (std::size_t i = 0; i < outer.size(); ++i) {
      if (outer[i] == kAbsent) continue;
      // every output as large as the first one is spatial too (the indices of MaxPool); statistics are not
      const bool same = out_.type(inner[i]).shape == out_.type(inner[0]).shape;
      Attributes perm;
      if (same) perm.set("perm", to_first);
      place({fmt::format("{}/to_channels_first_{}", name, i),
             same ? "Transpose" : "Identity",
             std::move(perm),
             {inner[i]},
             {outer[i]},
             {},
             {}});
    }
  }

  ValueId transpose(const std::string& name, ValueId v, const std::vector<std::int64_t>& perm) {
    Attributes attributes;
    attributes.set("perm", perm);
    const ValueId out = out_.add_value(name);
    place({name, "Transpose", std::move(attributes), {v}, {out}, {}, {}});
    return out;
  }

  /// Infers the types, then folds the node or appends it.
  void place(Node node) {
    infer(node);
    for (ValueId v : node.outputs)
      if (v != kAbsent) check_size(out_.type(v), fmt::format("node {} ({})", node.name, node.op));
    if (!folder_.fold(out_, node)) out_.nodes.push_back(std::move(node));
  }

  /// Shapes of a model are input: where a rule finds no axis that it counts on, the model is wrong.
  void infer(const Node& node) {
    try {
      set_types(out_, node, layers_);
    } catch (const InternalError& error) {
      throw InputError(fmt::format("node {} ({}) of {}: not accepted: {}", node.name, node.op,
                                   describe_inputs(out_, node), error.what()));
    }
  }

  void fold_shape(const Node& node) {
    if (node.inputs.empty() || node.inputs[0] == kAbsent || node.outputs.size() != 1)
      throw InputError(fmt::format("node {} ({}): one input and one output are needed", node.name, node.op));
    const Shape& shape = out_.type(node.inputs[0]).shape;
    if (node.op == "Size") return define(node.outputs[0], Tensor::scalar(shape.elements()));
    const auto clamp = [&](std::int64_t i) {
      return std::clamp<std::int64_t>(i < 0 ? i + shape.rank() : i, 0, shape.rank());
    };
    const std::int64_t first = clamp(node.attributes.get_int("start", 0));
    const std::int64_t last = std::max(first, clamp(node.attributes.get_int("end", shape.rank())));
    const std::vector<std::int64_t> dims(shape.begin() + first, shape.begin() + last);
    define(node.outputs[0], Tensor::of<std::int64_t>({last - first}, dims));
  }

  void define(ValueId v, Tensor tensor) {
    out_.values[v].type = tensor.type();
    out_.values[v].constant = std::move(tensor);
  }

  void check_size(const TensorType& type, const std::string& what) const {
    std::int64_t product = 1;
    for (std::int64_t d : type.shape)
      if (d < 0 || __builtin_mul_overflow(product, std::max<std::int64_t>(d, 1), &product) ||
          product > binding_.max_tensor_bytes)
        throw InputError(fmt::format("{}: {} is larger than the {} bytes accepted", what, type.to_string(),
                                     binding_.max_tensor_bytes));
    if (type.bytes() > binding_.max_tensor_bytes)
      throw InputError(fmt::format("{}: {} is larger than the {} bytes accepted", what, type.to_string(),
                                   binding_.max_tensor_bytes));
  }

  const LayerTable& layers_;
  const Binding& binding_;
  Graph out_;
  bool onnx_order_ = false;
  bool rebatched_ = false;
  Folder folder_;
};

}  // namespace

Graph bind(const Graph& graph, const LayerTable& layers, const Binding& binding) {
  return Binder(layers, binding).run(graph);
}

}  // namespace espalier
