#include "graphs/onnx/import.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/onnx/canonicalise.hpp"
#include "graphs/onnx/model_file.hpp"
#include "graphs/onnx/tensor_proto.hpp"
#include "graphs/passes/types.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFile = std::size_t{2} << 30;  ///< what protobuf can parse

struct Context {
  const LayerTable& layers;
  fs::path folder;
  int opset = 0;
};

/// Names of one graph and, for the body of an If, of those around it.
class Scope {
 public:
  Scope(Graph& graph, Scope* outer) : graph_(graph), outer_(outer) {}

  void define(const std::string& name, ValueId v) {
    if (!names_.emplace(name, v).second) throw InputError(fmt::format("value '{}' is given twice", name));
  }
  bool has(const std::string& name) const { return names_.count(name) != 0; }

  /// The value of this name; one from an outer graph becomes an input of this one and is noted in captures().
  ValueId find(const std::string& name) {
    if (const auto it = names_.find(name); it != names_.end()) return it->second;
    const ValueId outside = outer_ != nullptr ? outer_->find(name) : kAbsent;
    if (outside == kAbsent) return kAbsent;
    ValueId v = kAbsent;
    if (const Tensor* constant = outer_->graph_.constant(outside)) {
      v = graph_.add_constant(name, *constant);
    } else {
      v = graph_.add_value(name);
      graph_.inputs.push_back(v);
      captures_.push_back(outside);
    }
    names_.emplace(name, v);
    return v;
  }
  const std::vector<ValueId>& captures() const { return captures_; }

 private:
  Graph& graph_;
  Scope* outer_;
  std::unordered_map<std::string, ValueId> names_;
  std::vector<ValueId> captures_;
};

Graph read_graph(onnx::GraphProto& proto, Context& context, Scope* outer, std::vector<ValueId>* captures);

/// dim_names and type of a graph input from its ValueInfoProto; the type stays open when the file has no
/// shape.
void read_input_type(const onnx::ValueInfoProto& info, Value& value) {
  if (!info.type().has_tensor_type())
    throw InputError(fmt::format(
        "input '{}' is not a tensor (a sequence, map or optional); only tensors are accepted", info.name()));
  const auto& tensor = info.type().tensor_type();
  const DType dtype = dtype_of_onnx(tensor.elem_type());
  if (!tensor.has_shape()) return;
  std::vector<std::int64_t> dims;
  for (const auto& d : tensor.shape().dim()) {
    if (d.has_dim_value() && (d.dim_value() < -1 || d.dim_value() > (std::int64_t{1} << 40)))
      throw InputError(fmt::format("input '{}' has an extent of {}", info.name(), d.dim_value()));
    dims.push_back(d.has_dim_value() ? d.dim_value() : Shape::kDynamic);
    value.dim_names.push_back(d.has_dim_param() ? d.dim_param() : "");
  }
  if (dims.size() > 64) throw InputError(fmt::format("input '{}' has rank {}", info.name(), dims.size()));
  value.type = TensorType{dtype, Shape(std::move(dims))};
}

void read_initializers(onnx::GraphProto& proto, const Context& context, Graph& graph, Scope& scope) {
  if (proto.sparse_initializer_size() > 0) throw InputError("sparse initializers are not supported");
  for (auto& initializer : *proto.mutable_initializer()) {
    const ValueId v = graph.add_constant(initializer.name(), to_tensor(initializer, context.folder));
    scope.define(initializer.name(), v);
  }
}

void read_inputs(const onnx::GraphProto& proto, Graph& graph, Scope& scope) {
  for (const auto& info : proto.input()) {
    if (scope.has(info.name())) continue;  // before IR version 4 initializers are listed among the inputs
    const ValueId v = graph.add_value(info.name());
    read_input_type(info, graph.values[v]);
    graph.inputs.push_back(v);
    scope.define(info.name(), v);
  }
}

Attribute read_attribute(onnx::AttributeProto& proto, const fs::path& folder) {
  using A = onnx::AttributeProto;
  if (!proto.ref_attr_name().empty())
    throw InputError(fmt::format("attribute {} refers to a function's attribute; functions are not supported",
                                 proto.name()));
  switch (proto.type()) {
    case A::INT:
      return std::int64_t{proto.i()};
    case A::FLOAT:
      return double{proto.f()};
    case A::STRING:
      return proto.s();
    case A::INTS:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
    case A::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case A::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    case A::TENSOR:
      return to_tensor(*proto.mutable_t(), folder);
    default:
      throw InputError(fmt::format("attribute {} is of kind {}, which is not supported", proto.name(),
                                   A::AttributeType_Name(proto.type())));
  }
}

/// The tensor of a Constant node, whichever attribute holds it.
Tensor read_constant(const Attributes& a) {
  if (a.has("value")) return a.get_tensor("value");
  if (a.has("value_int")) return Tensor::scalar(a.get_int("value_int"));
  if (a.has("value_float")) return Tensor::scalar(static_cast<float>(a.get_float("value_float", 0)));
  if (a.has("value_ints")) {
    const auto v = a.get_ints("value_ints");
    return Tensor::of<std::int64_t>({static_cast<std::int64_t>(v.size())}, v);
  }
  if (a.has("value_floats")) {
    const auto v = a.get_floats("value_floats");
    const std::vector<float> f(v.begin(), v.end());
    return Tensor::of<float>({static_cast<std::int64_t>(f.size())}, f);
  }
  throw InputError("a constant needs one of value, value_int, value_ints, value_float, value_floats");
}

void read_branches(onnx::NodeProto& proto, Context& context, Scope& scope, Node& node) {
  for (const char* which : {"then_branch", "else_branch"}) {
    onnx::GraphProto* body = nullptr;
    for (auto& a : *proto.mutable_attribute())
      if (a.name() == which && a.has_g()) body = a.mutable_g();
    if (body == nullptr) throw InputError(fmt::format("{} is missing", which));
    std::vector<ValueId> captures;
    node.bodies.push_back(std::make_shared<const Graph>(read_graph(*body, context, &scope, &captures)));
    if (node.bodies.back()->outputs.size() < node.outputs.size())
      throw InputError(fmt::format("{} has fewer outputs than the node", which));
    node.inputs.insert(node.inputs.end(), captures.begin(), captures.end());
  }
}

void read_node(onnx::NodeProto& proto, int index, Context& context, Graph& graph, Scope& scope) {
  if (!proto.domain().empty() && proto.domain() != "ai.onnx")
    throw InputError(
        fmt::format("operator {} of the domain {} is not supported; only ONNX's own operators are",
                    proto.op_type(), proto.domain()));
  Node node;
  node.name = proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), index) : proto.name();
  node.op = proto.op_type();
  for (auto& a : *proto.mutable_attribute())
    if (node.op != "If" && !a.has_g()) node.attributes.set(a.name(), read_attribute(a, context.folder));
  for (const std::string& name : proto.input()) {
    node.inputs.push_back(name.empty() ? kAbsent : scope.find(name));
    if (!name.empty() && node.inputs.back() == kAbsent)
      throw InputError(fmt::format("input '{}' is given by nothing before the node", name));
  }
  if (node.op == "Constant") {
    if (proto.output_size() != 1) throw InputError("a constant has one output");
    return scope.define(proto.output(0), graph.add_constant(proto.output(0), read_constant(node.attributes)));
  }
  for (const std::string& name : proto.output()) {
    node.outputs.push_back(name.empty() ? kAbsent : graph.add_value(name));
  }
  while (!node.outputs.empty() && node.outputs.back() == kAbsent) node.outputs.pop_back();
  if (node.op == "If") read_branches(proto, context, scope, node);
  const std::vector<ValueId> outputs = node.outputs;
  append_canonical(graph, std::move(node), context.opset);
  for (ValueId v : outputs)
    if (v != kAbsent) scope.define(graph.values[v].name, v);
}

std::string describe(const onnx::NodeProto& proto, int index) {
  if (!proto.name().empty()) return fmt::format("node {} ({})", proto.name(), proto.op_type());
  return fmt::format("node {} ({}, without a name)", index, proto.op_type());
}

Graph read_graph(onnx::GraphProto& proto, Context& context, Scope* outer, std::vector<ValueId>* captures) {
  Graph graph;
  graph.name = proto.name();
  graph.onnx_order = true;
  Scope scope(graph, outer);
  read_initializers(proto, context, graph, scope);
  read_inputs(proto, graph, scope);
  if (outer != nullptr && !graph.inputs.empty()) throw InputError("a branch of an If has no inputs");
  for (int i = 0; i < proto.node_size(); ++i) {
    try {
      read_node(*proto.mutable_node(i), i, context, graph, scope);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", describe(proto.node(i), i), error.what()));
    }
  }
  for (const auto& info : proto.output()) {
    graph.outputs.push_back(scope.find(info.name()));
    if (graph.outputs.back() == kAbsent)
      throw InputError(fmt::format("output '{}' is given by no node", info.name()));
  }
  if (captures != nullptr) *captures = scope.captures();
  return graph;
}

/// A model that names other domains alone has no operator of ONNX's own, whose version then does not matter.
int opset_of(const onnx::ModelProto& model) {
  if (model.opset_import_size() == 0)
    throw InputError("the model does not say which opset it uses; is it truncated?");
  std::int64_t opset = kNewestOpset;
  for (const auto& entry : model.opset_import())
    if (entry.domain().empty() || entry.domain() == "ai.onnx") opset = entry.version();
  if (opset < 1 || opset > kNewestOpset)
    throw InputError(
        fmt::format("opset {} is not supported; accepted are {} to {}", opset, kOldestOpset, kNewestOpset));
  return static_cast<int>(opset);
}

void check_operators(const Graph& graph, const LayerTable& layers) {
  for (const Node& node : graph.nodes)
    if (node.op != "If" && node.op != "Shape" && node.op != "Size") layers.at(node);
}

Graph read_model(onnx::ModelProto& model, const LayerTable& layers, const fs::path& folder) {
  if (!model.has_graph()) throw InputError("no graph in it; is it an ONNX model?");
  if (model.functions_size() > 0)
    throw InputError(fmt::format("function '{}': functions are not supported", model.functions(0).name()));
  Context context{layers, folder, opset_of(model)};
  Graph graph = read_graph(*model.mutable_graph(), context, nullptr, nullptr);
  if (graph.outputs.empty()) throw InputError("the graph has no outputs");
  make_names_unique(graph);
  check_operators(graph, layers);
  return graph;
}

Graph read_named(onnx::ModelProto& model, const std::string& name, const LayerTable& layers,
                 const fs::path& folder) {
  try {
    return read_model(model, layers, folder);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace

Graph import_onnx_bytes(std::string_view bytes, const std::string& name, const LayerTable& layers,
                        const fs::path& folder) {
  Graph graph;
  parse_model(bytes, name + ": model",
              [&](onnx::ModelProto& model) { graph = read_named(model, name, layers, folder); });
  return graph;
}

Graph import_onnx(const fs::path& path, const LayerTable& layers) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string bytes = read_file(path, kMaxFile);
  Graph graph;
  parse_model(bytes, path.string() + ": model", [&](onnx::ModelProto& model) {
    std::string().swap(bytes);  // parsed: large models need not be held twice
    graph = read_named(model, path.string(), layers, folder);
  });
  return graph;
}

Tensor read_tensor_proto(const fs::path& path) {
  Tensor tensor;
  parse_tensor(read_file(path, kMaxFile), path.string() + ": tensor", [&](onnx::TensorProto& proto) {
    try {
      tensor = to_tensor(proto, {});
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", path.string(), error.what()));
    }
  });
  return tensor;
}

}  // namespace espalier
