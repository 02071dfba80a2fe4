#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>
#include <random>

#include "layers/layer_list.hpp"

/// Time of one run of a recurrent layer on one thread. Arguments: steps, batch, inputs, hidden units.
namespace espalier {
namespace {

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  Tensor t(DType::f32, shape);
  std::uniform_real_distribution<float> uniform(-0.1F, 0.1F);
  for (float& v : t.as_mutable<float>()) v = uniform(random);
  return t;
}

void run(benchmark::State& state, const char* op, std::int64_t gates, const char* direction) {
  const std::int64_t steps = state.range(0), batch = state.range(1), inputs = state.range(2),
                     h = state.range(3);
  const std::int64_t d = std::string_view(direction) == "bidirectional" ? 2 : 1;
  std::mt19937 random(1);
  Attributes attributes;
  attributes.set("hidden_size", h);
  attributes.set("direction", std::string(direction));
  attributes.set("linear_before_reset", std::int64_t{1});
  const Tensor x = random_tensor({steps, batch, inputs}, random);
  Graph graph;
  const ValueId ids[] = {graph.add_value("x", x.type()),
                         graph.add_constant("w", random_tensor({d, gates * h, inputs}, random)),
                         graph.add_constant("r", random_tensor({d, gates * h, h}, random)),
                         graph.add_constant("b", random_tensor({d, 2 * gates * h}, random))};
  Node& node = graph.add_node(op, "node", {ids[0], ids[1], ids[2], ids[3]}, {"y"}, attributes);
  Tensor y(DType::f32, {steps, d, batch, h});
  graph.values[static_cast<std::size_t>(node.outputs[0])].type = y.type();
  const auto cache = make_weight_cache();
  PrepareContext context{*cache, {}};
  const auto kernel = prepare_kernel(all_layers(), graph, node, context);
  const Tensor scratch(DType::u8, Shape{static_cast<std::int64_t>(kernel->scratch_bytes())});
  const void* in[] = {x.data(), graph.constant(ids[1])->data(), graph.constant(ids[2])->data(),
                      graph.constant(ids[3])->data()};
  void* out[] = {y.mutable_data()};
  for (auto _ : state) kernel->run({in, out, const_cast<void*>(scratch.data())});
  const LayerCost cost = all_layers().at(node).cost(view_of(graph, node));
  state.counters["GFLOP/s"] =
      benchmark::Counter(cost.flops.value * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"T", "B", "I", "H"});
  b->Args({50, 1, 64, 128})->Args({50, 16, 64, 128})->Args({100, 1, 256, 256})->Args({100, 32, 256, 256});
  b->Args({100, 1, 512, 512})->Args({100, 64, 512, 512})->Args({1, 1, 128, 128});
}

BENCHMARK_CAPTURE(run, lstm, "LSTM", 4, "forward")->Apply(sizes);
BENCHMARK_CAPTURE(run, lstm_bidirectional, "LSTM", 4, "bidirectional")->Args({100, 16, 256, 256});
BENCHMARK_CAPTURE(run, gru, "GRU", 3, "forward")->Apply(sizes);
BENCHMARK_CAPTURE(run, rnn, "RNN", 1, "forward")->Args({100, 16, 256, 256});

}  // namespace
}  // namespace espalier
