#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

#include "experiments/run/run_network.hpp"
#include "graphs/base/error.hpp"
#include "runtime/task_graph/micro_batches.hpp"

namespace espalier {
namespace {

/// The axis that carries the batch: one whose dimension is named so, else axis 0 where it is free.
int batch_axis(const Graph& network, const Value& value) {
  for (std::size_t i = 0; i < value.dim_names.size(); ++i)
    if (is_batch_name(value.dim_names[i])) return static_cast<int>(i);
  const bool named_elsewhere = std::any_of(network.inputs.begin(), network.inputs.end(), [&](ValueId v) {
    const auto& names = network.values[static_cast<std::size_t>(v)].dim_names;
    return std::any_of(names.begin(), names.end(), [](const auto& n) { return is_batch_name(n); });
  });
  const bool free = value.type && value.type->shape.rank() > 0 && value.type->shape[0] <= 1;
  return free && !named_elsewhere ? 0 : -1;
}

void require_known(const Graph& network, const std::map<std::string, Tensor>& inputs) {
  std::vector<std::string> known;
  for (const ValueId v : network.inputs) known.push_back(network.values[static_cast<std::size_t>(v)].name);
  for (const auto& [name, ignored] : inputs)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw InputError(
          fmt::format("the network has no input \"{}\"; it has {}", name, fmt::join(known, ", ")));
}

template <class T, class Draw>
void fill(Tensor& t, Draw draw) {
  auto* p = static_cast<T*>(t.mutable_data());
  for (std::int64_t i = 0; i < t.elements(); ++i) p[i] = static_cast<T>(draw());
}

}  // namespace

Binding binding_for(const Graph& network, const std::map<std::string, Tensor>& inputs,
                    const std::map<std::string, std::int64_t>& dims, std::int64_t& batch) {
  require_known(network, inputs);
  Binding binding;
  binding.dims = dims;
  for (const ValueId v : network.inputs) {
    const Value& value = network.values[static_cast<std::size_t>(v)];
    const auto given = inputs.find(value.name);
    if (given == inputs.end()) continue;
    const Shape& shape = given->second.shape();
    if (!value.type) {
      binding.shapes[value.name] = shape;
      continue;
    }
    if (value.type->shape.rank() != shape.rank())
      throw InputError(fmt::format("input {}: {} was given, {} is needed", value.name,
                                   given->second.type().to_string(), value.type->to_string()));
    const int axis = batch_axis(network, value);
    if (axis >= 0 && batch == 0) batch = shape[axis];
    bool anonymous = false;
    for (int i = 0; i < shape.rank(); ++i) {
      if (i == axis || value.type->shape[i] >= 0) continue;
      const std::string name = static_cast<std::size_t>(i) < value.dim_names.size()
                                   ? value.dim_names[static_cast<std::size_t>(i)]
                                   : std::string();
      if (name.empty())
        anonymous = true;
      else
        binding.dims.emplace(name, shape[i]);
    }
    if (anonymous) binding.shapes[value.name] = shape;
  }
  if (batch == 0) batch = 1;
  return binding;
}

Tensor random_tensor(const TensorType& type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const auto bit = [&] { return random() >> 63; };
  Tensor t(type.dtype, type.shape);
  switch (type.dtype) {
    case DType::f32:
      fill<float>(t, unit);
      break;
    case DType::f64:
      fill<double>(t, unit);
      break;
    case DType::f16:
      fill<std::uint16_t>(t, [&] { return f32_to_f16(static_cast<float>(unit())); });
      break;
    case DType::bf16:
      fill<std::uint16_t>(t, [&] { return f32_to_bf16(static_cast<float>(unit())); });
      break;
    case DType::i64:
    case DType::u64:
      fill<std::uint64_t>(t, bit);
      break;
    case DType::i32:
    case DType::u32:
      fill<std::uint32_t>(t, bit);
      break;
    case DType::i16:
    case DType::u16:
      fill<std::uint16_t>(t, bit);
      break;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      fill<std::uint8_t>(t, bit);
      break;
  }
  return t;
}

}  // namespace espalier
