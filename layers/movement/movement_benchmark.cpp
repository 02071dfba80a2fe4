#include <benchmark/benchmark.h>
#include <random>

#include "graphs/passes/types.hpp"
#include "layers/layer_list.hpp"

/// Layers that move or normalise, on shapes of image networks and transformers; bytes are those read and
/// written.
namespace espalier {
namespace {

struct Setup {
  const char* op;
  std::vector<Shape> inputs;  ///< run-time inputs, float32
  std::vector<Tensor> constants;
  Attributes attributes;
};

Tensor random_tensor(const Shape& shape) {
  static std::mt19937 random(1);
  Tensor t(DType::f32, shape);
  std::uniform_real_distribution<float> uniform(0.1F, 1.0F);
  for (float& v : t.as_mutable<float>()) v = uniform(random);
  return t;
}

Attributes ints(const char* name, std::vector<std::int64_t> values) {
  Attributes attributes;
  attributes.set(name, std::move(values));
  return attributes;
}

Attributes value(const char* name, Attribute v) {
  Attributes attributes;
  attributes.set(name, std::move(v));
  return attributes;
}

void run(benchmark::State& state, Setup (*make)()) {
  const Setup setup = make();
  Graph graph;
  std::vector<ValueId> ids;
  std::vector<Tensor> held;
  for (const Shape& s : setup.inputs) {
    held.push_back(random_tensor(s));
    ids.push_back(graph.add_value("x", held.back().type()));
  }
  for (const Tensor& t : setup.constants) {
    held.push_back(t);
    ids.push_back(t.data() == nullptr ? kAbsent : graph.add_constant("c", t));
  }
  Node node = graph.add_node(setup.op, "node", ids, {"y"}, setup.attributes);
  set_types(graph, node, all_layers());
  const auto cache = make_weight_cache();
  PrepareContext context{*cache, {}};
  const auto kernel = prepare_kernel(all_layers(), graph, node, context);
  const TensorType type = graph.type(node.outputs[0]);
  Tensor y(type.dtype, type.shape);
  Tensor scratch(DType::u8, Shape{static_cast<std::int64_t>(kernel->scratch_bytes())});
  std::vector<const void*> in;
  for (const Tensor& t : held) in.push_back(t.data());
  void* out[] = {y.mutable_data()};
  for (auto _ : state) kernel->run({in, out, scratch.mutable_data()});
  const LayerCost cost = all_layers().at(node).cost(view_of(graph, node));
  state.SetBytesProcessed(state.iterations() * (cost.bytes_read + cost.bytes_written).value);
}

BENCHMARK_CAPTURE(run, transpose_image_to_last, [] {
  return Setup{"Transpose", {{16, 3, 224, 224}}, {}, ints("perm", {0, 2, 3, 1})};
});
BENCHMARK_CAPTURE(run, transpose_to_last, [] {
  return Setup{"Transpose", {{4, 256, 28, 28}}, {}, ints("perm", {0, 2, 3, 1})};
});
BENCHMARK_CAPTURE(run, transpose_to_first, [] {
  return Setup{"Transpose", {{4, 28, 28, 256}}, {}, ints("perm", {0, 3, 1, 2})};
});
BENCHMARK_CAPTURE(run, concat_channels, [] {
  return Setup{"Concat", {{4, 28, 28, 128}, {4, 28, 28, 32}}, {}, value("axis", std::int64_t{3})};
});
BENCHMARK_CAPTURE(run, resize_linear, [] {
  const std::vector<float> scales{1, 2, 2, 1};
  Attributes a = value("mode", std::string("linear"));
  return Setup{"Resize", {{1, 64, 64, 64}}, {Tensor{}, Tensor::of<float>(Shape{4}, scales)}, a};
});
BENCHMARK_CAPTURE(run, resize_nearest, [] {
  const std::vector<float> scales{1, 2, 2, 1};
  return Setup{"Resize", {{1, 64, 64, 64}}, {Tensor{}, Tensor::of<float>(Shape{4}, scales)}, {}};
});
BENCHMARK_CAPTURE(run, pad, [] {
  const std::vector<std::int64_t> pads{0, 1, 1, 0, 0, 1, 1, 0};
  return Setup{"Pad", {{4, 56, 56, 64}}, {Tensor::of<std::int64_t>(Shape{8}, pads)}, {}};
});
BENCHMARK_CAPTURE(run, softmax_rows, [] { return Setup{"Softmax", {{64, 1000}}, {}, {}}; });
BENCHMARK_CAPTURE(run, softmax_columns, [] {
  return Setup{"Softmax", {{8, 100, 256}}, {}, value("axis", std::int64_t{1})};
});
BENCHMARK_CAPTURE(run, layer_normalization, [] {
  return Setup{"LayerNormalization", {{512, 768}}, {random_tensor({768}), random_tensor({768})}, {}};
});
BENCHMARK_CAPTURE(run, batch_normalization, [] {
  const Tensor c = random_tensor({256});
  return Setup{"BatchNormalization", {{4, 28, 28, 256}}, {c, c, c, c}, {}};
});
BENCHMARK_CAPTURE(run, instance_normalization, [] {
  const Tensor c = random_tensor({64});
  return Setup{"InstanceNormalization", {{1, 128, 128, 64}}, {c, c}, {}};
});
BENCHMARK_CAPTURE(run, lrn, [] {
  return Setup{"LRN", {{4, 28, 28, 192}}, {}, value("size", std::int64_t{5})};
});

}  // namespace
}  // namespace espalier
