#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <ctime>
#include <fmt/format.h>
#include <set>

#include "layers/common/aligned_memory.hpp"
#include "layers/conv2d/conv_layers.hpp"
#include "layers/conv2d/network_convs.hpp"
#include "layers/layer_list.hpp"

/// Every convolution of three networks alone, and each network's convolutions in order (so that a layer finds
/// in the caches what the one before left there). Thread CPU time; ms_image is the figure to compare.
namespace espalier {
namespace {

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Prepared kernels over three buffers that take turns as input, output and residual.
class Convs {
 public:
  Convs(const std::vector<ConvCase>& cases, std::int64_t batch, const KernelOptions& options)
      : cache_(make_weight_cache()) {
    PrepareContext context{*cache_, options};
    std::size_t bytes = 64, scratch = 64;
    for (const ConvCase& c : cases) graphs_.push_back(conv_case_graph(c, batch));
    for (const Graph& g : graphs_) {
      const NodeView view = view_of(g, g.nodes[0]);
      kernels_.push_back(prepare_kernel(all_layers(), g, g.nodes[0], context));
      flops_ += all_layers().at(g.nodes[0]).cost(view).flops.value;
      scratch = std::max(scratch, kernels_.back()->scratch_bytes());
      for (const TensorType* t : {view.inputs[0], view.outputs[0]})
        bytes = std::max(bytes, static_cast<std::size_t>(t->bytes()));
    }
    for (auto& b : buffers_) b = aligned_memory(bytes);
    for (auto& b : buffers_) std::fill_n(static_cast<float*>(b.get()), bytes / sizeof(float), 0.1F);
    scratch_ = aligned_memory(scratch);
  }

  void run() {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const Node& n = graphs_[i].nodes[0];
      const void* in[] = {buffers_[i % 2].get(), graphs_[i].constant(n.inputs[1])->data(),
                          graphs_[i].constant(n.inputs[2])->data(), buffers_[2].get()};
      void* out[] = {buffers_[1 - i % 2].get()};
      kernels_[i]->run({std::span<const void* const>(in, n.inputs.size()), out, scratch_.get()});
    }
  }
  double flops() const { return flops_; }

 private:
  std::unique_ptr<WeightCache> cache_;
  std::vector<Graph> graphs_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::array<std::shared_ptr<void>, 3> buffers_;
  std::shared_ptr<void> scratch_;
  double flops_ = 0;
};

void measure(benchmark::State& state, const std::vector<ConvCase>& cases, std::int64_t batch,
             const std::string& forced) {
  KernelOptions options;
  options.forced = forced;
  Convs convs(cases, batch, options);
  convs.run();
  std::vector<double> seconds;
  for ([[maybe_unused]] auto _ : state) {
    const double start = thread_seconds();
    convs.run();
    seconds.push_back(thread_seconds() - start);
    state.SetIterationTime(seconds.back());
  }
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                   seconds.end());
  const double median = seconds[seconds.size() / 2];
  state.counters["ms_image"] = 1e3 * median / static_cast<double>(batch);
  state.counters["GFLOP/s"] = convs.flops() / median * 1e-9;
}

int register_all() {
  const std::pair<const char*, std::vector<ConvCase>> networks[] = {
      {"resnet50", resnet50_convs()},
      {"mobilenet_v2", mobilenet_v2_convs()},
      {"efficientnet_b0", efficientnet_b0_convs()}};
  for (const auto& [network, cases] : networks) {
    for (const std::int64_t batch : {1, 2, 4, 8})
      for (const char* forced : {"", "direct"}) {
        const auto name =
            fmt::format("convs/{}/batch:{}{}{}", network, batch, *forced != 0 ? "/" : "", forced);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [cases = cases, batch, forced](benchmark::State& s) { measure(s, cases, batch, forced); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    const std::span<const Implementation> implementations = conv_layers()[0].implementations;
    std::set<std::string> seen;
    for (const ConvCase& c : cases) {
      if (!seen.insert(c.name + (c.residual ? "+Add" : "")).second) continue;
      for (const Implementation& i : implementations) {
        const Graph g = conv_case_graph(c, 4);
        KernelOptions options;
        options.forced = i.name;
        if (i.name == "reference" || !i.refuses(view_of(g, g.nodes[0]), options).empty()) continue;
        const auto name =
            fmt::format("conv/{}/{}{}/batch:4/{}", network, c.name, c.residual ? "+Add" : "", i.name);
        benchmark::RegisterBenchmark(name.c_str(), [c, forced = std::string(i.name)](
                                                       benchmark::State& s) { measure(s, {c}, 4, forced); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return 0;
}

[[maybe_unused]] const int registered = register_all();

}  // namespace
}  // namespace espalier
