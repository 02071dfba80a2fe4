#include "tests/support/task_layers.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <random>

#include "graphs/base/error.hpp"

namespace espalier::test {
namespace {

using Function = void (*)(const KernelArguments&, std::int64_t n, std::int64_t inner);

class TaskKernel final : public Kernel {
 public:
  TaskKernel(Function f, const Shape& s) : f_(f), n_(s.elements()), inner_(s.rank() > 0 ? s[-1] : 1) {}
  void run(const KernelArguments& a) override { f_(a, n_, inner_); }
  std::size_t scratch_bytes() const override { return static_cast<std::size_t>(inner_) * sizeof(float); }

 private:
  Function f_;
  std::int64_t n_, inner_;
};

const float* in(const KernelArguments& a, std::size_t i) {
  return static_cast<const float*>(a.inputs[i]);
}
float* out(const KernelArguments& a, std::size_t i) {
  return static_cast<float*>(a.outputs[i]);
}

void affine(const KernelArguments& a, std::int64_t n, std::int64_t /*inner*/) {
  for (std::int64_t i = 0; i < n; ++i) out(a, 0)[i] = 2 * in(a, 0)[i] + 1;
}
void add(const KernelArguments& a, std::int64_t n, std::int64_t /*inner*/) {
  for (std::int64_t i = 0; i < n; ++i) out(a, 0)[i] = 0.5F * (in(a, 0)[i] + in(a, 1)[i]);
}
void halves(const KernelArguments& a, std::int64_t n, std::int64_t /*inner*/) {
  for (std::int64_t i = 0; i < n; ++i) {
    out(a, 0)[i] = 0.5F * in(a, 0)[i];
    out(a, 1)[i] = -0.5F * in(a, 0)[i];
  }
}
void blur(const KernelArguments& a, std::int64_t n, std::int64_t inner) {
  auto* row = static_cast<float*>(a.scratch);
  for (std::int64_t r = 0; r < n; r += inner) {
    std::copy_n(in(a, 0) + r, inner, row);
    for (std::int64_t i = 0; i < inner; ++i)
      out(a, 0)[r + i] =
          (row[std::max<std::int64_t>(i - 1, 0)] + row[i] + row[std::min(i + 1, inner - 1)]) / 3;
  }
}
void flat(const KernelArguments& a, std::int64_t n, std::int64_t /*inner*/) {
  std::copy_n(in(a, 0), n, out(a, 0));
}
void mean_rows(const KernelArguments& a, std::int64_t n, std::int64_t inner) {
  for (std::int64_t i = 0; i < n; ++i) out(a, 0)[i] = 0;
  for (std::int64_t i = 0; i < n; ++i) out(a, 0)[i % inner] += in(a, 0)[i];
}
void refuse(const KernelArguments& a, std::int64_t n, std::int64_t /*inner*/) {
  if (n > 0 && in(a, 0)[0] < 0) throw InputError("element 0 is negative");
  std::copy_n(in(a, 0), n, out(a, 0));
}

std::vector<TensorType> same(const NodeView& v) {
  return std::vector<TensorType>(v.op() == "Halves" ? 2 : 1, *v.inputs[0]);
}
std::vector<TensorType> flattened(const NodeView& v) {
  const Shape& s = v.shape(0);
  return {{v.inputs[0]->dtype, Shape{s[0], s.elements(1, s.rank())}}};
}
LayerCost cost(const NodeView& v) {
  const auto bytes = v.inputs[0]->bytes();
  return {Flops(static_cast<double>(bytes) * 50), Bytes(bytes), Bytes(bytes)};
}
std::string always(const NodeView& /*view*/, const KernelOptions& /*options*/) {
  return {};
}

template <Function F>
std::unique_ptr<Kernel> prepare(const NodeView& v, PrepareContext& /*context*/) {
  return std::make_unique<TaskKernel>(F, v.shape(0));
}
template <Function F>
constexpr std::array<Implementation, 1> kOnly{{{"reference", always, prepare<F>}}};

template <Function F>
Layer layer(std::string_view op, int inputs = 1, int outputs = 1) {
  Layer l;
  l.op = op;
  l.min_inputs = l.max_inputs = inputs;
  l.max_outputs = outputs;
  l.infer = same;
  l.cost = cost;
  l.implementations = kOnly<F>;
  return l;
}

std::vector<Layer> rows() {
  std::vector<Layer> layers{layer<affine>("Affine"), layer<add>("Add", 2), layer<halves>("Halves", 1, 2),
                            layer<blur>("Blur"),     layer<flat>("Flat"),  layer<mean_rows>("MeanRows"),
                            layer<refuse>("Refuse")};
  for (Layer& l : layers)
    if (l.op == "Flat") {
      l.infer = flattened;
      l.alias = true;
    }
  return layers;
}

}  // namespace

const LayerTable& task_layers() {
  static const LayerTable table(rows());
  return table;
}

Graph random_task_graph(std::uint64_t seed, int nodes, std::int64_t batch) {
  std::mt19937_64 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Graph g;
  g.name = fmt::format("random{}", seed);
  const TensorType whole{DType::f32, Shape{batch, 6, 8}}, flat_type{DType::f32, Shape{batch, 48}};
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < 1 + pick(2); ++i) {
    g.inputs.push_back(g.add_value(fmt::format("in{}", i), whole));
    values.push_back(g.inputs.back());
  }
  std::vector<float> numbers(static_cast<std::size_t>(batch * 48));
  for (float& x : numbers) x = static_cast<float>(pick(100)) / 50 - 1;
  values.push_back(g.add_constant("weight", Tensor::of<float>(whole.shape, numbers)));
  for (int n = 0; n < nodes; ++n) {
    // mostly recent values: long chains with some branches
    const ValueId a = pick(3) == 0 ? values[pick(values.size())] : values.back();
    const TensorType type = g.type(a);
    constexpr std::array<const char*, 6> ops{"Affine", "Affine", "Halves", "Blur", "Flat", "Add"};
    const std::string op = ops[pick(ops.size())];
    std::vector<ValueId> inputs{a};
    if (op == "Add") {
      std::vector<ValueId> equal;
      for (const ValueId v : values)
        if (g.type(v) == type) equal.push_back(v);
      inputs.push_back(equal[pick(equal.size())]);
    }
    std::vector<std::string> names{fmt::format("v{}", n)};
    if (op == "Halves") names.push_back(fmt::format("w{}", n));
    const Node& node = g.add_node(op, fmt::format("n{}", n), inputs, names);
    for (const ValueId v : node.outputs) {
      g.values[static_cast<std::size_t>(v)].type = op == "Flat" ? flat_type : type;
      values.push_back(v);
    }
  }
  g.outputs.push_back(values.back());
  if (pick(2) == 0) g.outputs.push_back(values[pick(values.size())]);
  return g;
}

std::map<std::string, Tensor> random_task_inputs(const Graph& graph, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::map<std::string, Tensor> inputs;
  for (const ValueId v : graph.inputs) {
    Tensor t(graph.type(v).dtype, graph.type(v).shape);
    for (float& x : t.as_mutable<float>()) x = static_cast<float>(random() % 1000) / 500 - 1;
    inputs[graph.values[static_cast<std::size_t>(v)].name] = t;
  }
  return inputs;
}

}  // namespace espalier::test
