#pragma once

#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

namespace espalier::test {

/// Writes small ONNX models in tests. Extents below zero are symbolic and named "N".
class OnnxModel {
 public:
  explicit OnnxModel(int opset = 17) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  void input(const std::string& name, const std::vector<std::int64_t>& dims,
             int type = onnx::TensorProto::FLOAT) {
    auto* info = model.mutable_graph()->add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    auto* shape = tensor->mutable_shape();
    for (std::int64_t d : dims) {
      auto* dim = shape->add_dim();
      if (d < 0)
        dim->set_dim_param("N");
      else
        dim->set_dim_value(d);
    }
  }
  void output(const std::string& name) { model.mutable_graph()->add_output()->set_name(name); }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    return add_node(*model.mutable_graph(), op, inputs, outputs);
  }
  static onnx::NodeProto& add_node(onnx::GraphProto& graph, const std::string& op,
                                   const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
    auto* n = graph.add_node();
    n->set_op_type(op);
    n->set_name(outputs.empty() ? op : outputs[0] + "_" + op);
    for (const auto& s : inputs) n->add_input(s);
    for (const auto& s : outputs) n->add_output(s);
    return *n;
  }

  onnx::TensorProto& floats(const std::string& name, const std::vector<std::int64_t>& dims,
                            const std::vector<float>& values) {
    auto* t = model.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::FLOAT);
    for (std::int64_t d : dims) t->add_dims(d);
    for (float v : values) t->add_float_data(v);
    return *t;
  }
  onnx::TensorProto& ints(const std::string& name, const std::vector<std::int64_t>& values) {
    auto* t = model.mutable_graph()->add_initializer();
    t->set_name(name);
    t->set_data_type(onnx::TensorProto::INT64);
    t->add_dims(static_cast<std::int64_t>(values.size()));
    for (std::int64_t v : values) t->add_int64_data(v);
    return *t;
  }

  std::string bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;
};

inline void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INT);
  a->set_i(value);
}
inline void set_float(onnx::NodeProto& node, const std::string& name, float value) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(value);
}
inline void set_string(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::STRING);
  a->set_s(value);
}
inline void set_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<std::int64_t>& values) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::INTS);
  for (std::int64_t v : values) a->add_ints(v);
}
inline onnx::GraphProto& set_graph(onnx::NodeProto& node, const std::string& name) {
  auto* a = node.add_attribute();
  a->set_name(name);
  a->set_type(onnx::AttributeProto::GRAPH);
  return *a->mutable_g();
}

}  // namespace espalier::test
