#include "graphs/passes/bind_inputs.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// Extents by name: the binding's, and `batch` for every name that stands at axis 0 of an input.
std::map<std::string, std::int64_t> extents_by_name(const Graph& graph, const Binding& binding) {
  std::map<std::string, std::int64_t> extents = binding.dims;
  for (ValueId v : graph.inputs) {
    const Value& value = graph.values[v];
    if (binding.batch > 0 && value.type && value.type->shape.rank() > 0 && value.type->shape[0] < 0 &&
        !value.dim_names.empty() && !value.dim_names[0].empty())
      extents.emplace(value.dim_names[0], binding.batch);
  }
  return extents;
}

/// Axis 0 of an input may be rebound when it is 1: models are often exported for a single sample.
bool fits(const Shape& declared, const Shape& wanted) {
  if (declared.rank() != wanted.rank()) return false;
  for (int i = 0; i < declared.rank(); ++i) {
    const bool free = declared[i] < 0 || (i == 0 && declared[i] == 1);
    if (!free && declared[i] != wanted[i]) return false;
  }
  return true;
}

void set_shape(Value& value, const Shape& wanted, DType dtype) {
  if (value.type && (!fits(value.type->shape, wanted) || value.type->dtype != dtype))
    throw InputError(fmt::format("graph input {} is {}; {} does not fit", value.name, value.type->to_string(),
                                 TensorType{dtype, wanted}.to_string()));
  if (!wanted.is_static())
    throw InputError(
        fmt::format("graph input {}: the shape {} is not static", value.name, wanted.to_string()));
  value.type = TensorType{dtype, wanted};
}

void set_extents(Value& value, const Binding& binding, const std::map<std::string, std::int64_t>& extents) {
  if (!value.type)
    throw InputError(
        fmt::format("graph input {} has no shape in the model; give one when binding", value.name));
  Shape& shape = value.type->shape;
  for (int i = 0; i < shape.rank(); ++i) {
    const auto named = static_cast<std::size_t>(i) < value.dim_names.size()
                           ? extents.find(value.dim_names[static_cast<std::size_t>(i)])
                           : extents.end();
    if (shape[i] < 0 && named != extents.end())
      shape[i] = named->second;
    else if (i == 0 && binding.batch > 0 && (shape[i] < 0 || shape[i] == 1))
      shape[i] = binding.batch;
    else if (shape[i] < 0)
      shape[i] = 1;
  }
}

/// Every key must name an input (or a symbolic extent) of the graph.
template <class Map>
void check_names(const Map& given, const std::vector<std::string>& known, const char* what) {
  for (const auto& [name, ignored] : given)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(
          fmt::format("the graph has no {} '{}'; it has {}", what, name, fmt::join(known, ", ")));
}

void check_binding(const Graph& graph, const Binding& binding) {
  std::vector<std::string> inputs;
  std::vector<std::string> dims;
  for (ValueId v : graph.inputs) {
    inputs.push_back(graph.values[v].name);
    for (const std::string& d : graph.values[v].dim_names)
      if (!d.empty() && std::find(dims.begin(), dims.end(), d) == dims.end()) dims.push_back(d);
  }
  check_names(binding.shapes, inputs, "input");
  check_names(binding.values, inputs, "input");
  check_names(binding.dims, dims, "symbolic extent");
  if (binding.batch < 0) throw InputError(fmt::format("a batch of {} is not accepted", binding.batch));
  for (const auto& [name, extent] : binding.dims)
    if (extent < 0) throw InputError(fmt::format("extent {} = {} is not accepted", name, extent));
}

}  // namespace

void bind_inputs(Graph& graph, const Binding& binding) {
  check_binding(graph, binding);
  const auto extents = extents_by_name(graph, binding);
  std::vector<ValueId> remaining;
  for (ValueId v : graph.inputs) {
    Value& value = graph.values[v];
    if (const auto known = binding.values.find(value.name); known != binding.values.end()) {
      set_shape(value, known->second.shape(), known->second.dtype());
      value.constant = known->second;
      continue;
    }
    if (const auto shape = binding.shapes.find(value.name); shape != binding.shapes.end())
      set_shape(value, shape->second, value.type ? value.type->dtype : DType::f32);
    else
      set_extents(value, binding, extents);
    remaining.push_back(v);
  }
  graph.inputs = std::move(remaining);
}

}  // namespace espalier
