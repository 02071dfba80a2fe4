#include "tests/support/run_op.hpp"

#include "tests/support/one_node.hpp"

namespace espalier::test {
namespace {

OneNode node_of(const LayerTable& layers, const std::string& op, const std::vector<Tensor>& inputs,
                const Attributes& attributes, int outputs) {
  OneNode node(layers, op, attributes);
  for (const Tensor& t : inputs) {
    if (t.data() == nullptr)
      node.absent();
    else
      node.constant(t);
  }
  node.outputs(outputs);
  return node;
}

template <class T, class Convert>
void fill(Tensor& t, const std::vector<double>& values, Convert&& convert) {
  T* data = static_cast<T*>(t.mutable_data());
  for (std::size_t i = 0; i < values.size(); ++i) data[i] = static_cast<T>(convert(values[i]));
}

}  // namespace

std::vector<Tensor> run_op(const LayerTable& layers, const std::string& op, const std::vector<Tensor>& inputs,
                           const Attributes& attributes, int outputs, const std::string& forced) {
  KernelOptions options;
  options.forced = forced;
  return node_of(layers, op, inputs, attributes, outputs).run(options);
}

std::vector<std::string> implementations_of(const LayerTable& layers, const std::string& op,
                                            const std::vector<Tensor>& inputs, const Attributes& attributes,
                                            int outputs) {
  OneNode node = node_of(layers, op, inputs, attributes, outputs);
  std::vector<std::string> names;
  for (const Implementation& implementation : node.implementations())
    if (node.refusal(implementation.name).empty()) names.emplace_back(implementation.name);
  return names;
}

Tensor tensor_of(DType dtype, Shape shape, const std::vector<double>& values) {
  Tensor t(dtype, std::move(shape));
  const auto same = [](double v) { return v; };
  switch (dtype) {
    case DType::f32:
      fill<float>(t, values, same);
      break;
    case DType::f64:
      fill<double>(t, values, same);
      break;
    case DType::f16:
      fill<std::uint16_t>(t, values, [](double v) { return f32_to_f16(static_cast<float>(v)); });
      break;
    case DType::bf16:
      fill<std::uint16_t>(t, values, [](double v) { return f32_to_bf16(static_cast<float>(v)); });
      break;
    case DType::i8:
      fill<std::int8_t>(t, values, same);
      break;
    case DType::i16:
      fill<std::int16_t>(t, values, same);
      break;
    case DType::i32:
      fill<std::int32_t>(t, values, same);
      break;
    case DType::i64:
      fill<std::int64_t>(t, values, same);
      break;
    case DType::u8:
    case DType::boolean:
      fill<std::uint8_t>(t, values, same);
      break;
    case DType::u16:
      fill<std::uint16_t>(t, values, same);
      break;
    case DType::u32:
      fill<std::uint32_t>(t, values, same);
      break;
    case DType::u64:
      fill<std::uint64_t>(t, values, same);
      break;
  }
  return t;
}

}  // namespace espalier::test
