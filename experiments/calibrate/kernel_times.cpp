#include "experiments/calibrate/kernel_times.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>

#include "experiments/calibrate/median.hpp"
#include "graphs/base/error.hpp"
#include "runtime/task_graph/codelet_name.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A node to be measured, and one of its implementations.
struct Candidate {
  const Graph* graph;
  const Node* node;
  const Implementation* implementation;
  CostClassInfo info;
  bool chosen;
};

std::vector<Candidate> candidates_of(const PreparedProgram& prepared, const LayerTable& layers,
                                     const KernelOptions& kernels) {
  std::vector<Candidate> out;
  std::set<std::string> seen;
  for (const auto& variant : prepared.program->variants)
    for (const Node& node : variant.graph->nodes) {
      const Graph& g = *variant.graph;
      const Layer& layer = layers.at(node);
      if (layer.alias || node.outputs.empty() || g.constant(node.outputs[0]) != nullptr) continue;
      const CostClassInfo info{codelet_name(g, node), signature_of(g, node), Flops(0), Bytes(0), 0};
      if (!seen.insert(info.signature).second) continue;
      const NodeView view = view_of(g, node);
      const Selection selection = select_implementation(layer, view, kernels);
      if (selection.chosen == nullptr) continue;
      for (const Implementation& i : layer.implementations) {
        const bool chosen = &i == selection.chosen;
        if (!chosen && (i.name == "reference" || !i.refuses(view, kernels).empty())) continue;
        out.push_back({&g, &node, &i, info, chosen});
      }
    }
  return out;
}

/// One worker's memory for a node, and its kernel.
class Bench {
 public:
  Bench(const Candidate& c, const KernelOptions& options, WeightCache& weights, std::uint64_t seed) {
    const NodeView view = view_of(*c.graph, *c.node);
    PrepareContext context{weights, options};
    kernel_ = c.implementation->prepare(view, context);
    for (const ValueId v : c.node->inputs) {
      const Tensor* constant = v == kAbsent ? nullptr : c.graph->constant(v);
      if (v != kAbsent)
        tensors_.push_back(constant != nullptr ? *constant : random_tensor(c.graph->type(v), seed++));
      inputs_.push_back(v == kAbsent ? nullptr : tensors_.back().data());
    }
    for (const ValueId v : c.node->outputs) {
      if (v != kAbsent) tensors_.emplace_back(c.graph->type(v).dtype, c.graph->type(v).shape);
      outputs_.push_back(v == kAbsent ? nullptr : tensors_.back().mutable_data());
    }
    if (const auto bytes = static_cast<std::int64_t>(kernel_->scratch_bytes()); bytes > 0) {
      scratch_ = Tensor(DType::u8, Shape{bytes});
      has_scratch_ = true;
    }
  }

  double run() {
    const auto begin = Clock::now();
    kernel_->run({inputs_, outputs_, has_scratch_ ? scratch_.mutable_data() : nullptr});
    return seconds_since(begin);
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::vector<Tensor> tensors_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  Tensor scratch_;
  bool has_scratch_ = false;
};

/// What all workers measure together.
struct Shared {
  const Candidate& candidate;
  const KernelOptions& kernels;
  WeightCache& weights;
  double limit, wanted;
  std::uint64_t seed;
  const std::atomic<bool>* stop;
  std::mutex mutex;
  std::vector<double> times;
  bool failed = false;
};

/// On a worker's thread, called from C: nothing may be thrown.
void measure(void* argument) noexcept {
  auto& shared = *static_cast<Shared*>(argument);
  try {
    Bench bench(shared.candidate, shared.kernels, shared.weights, shared.seed);
    bench.run();
    const auto begin = Clock::now();
    std::vector<double> own;
    for (std::size_t next = 8;;) {
      own.push_back(bench.run());
      const bool late = seconds_since(begin) > shared.limit || (shared.stop != nullptr && *shared.stop);
      if (own.size() < 3) continue;
      if (late) break;
      if (own.size() < next) continue;
      next += next / 2;
      const MedianInterval m = median_interval(own);
      if (m.median > 0 && (m.high - m.low) / 2 <= shared.wanted * m.median) break;
    }
    const std::lock_guard lock(shared.mutex);
    shared.times.insert(shared.times.end(), own.begin(), own.end());
  } catch (const std::exception&) {
    const std::lock_guard lock(shared.mutex);
    shared.failed = true;
  }
}

}  // namespace

MeasuredCosts KernelTimes::costs() const {
  MeasuredCosts out;
  for (const KernelTime& t : times) {
    if (t.chosen) out.set(t.node, t.cost);
    CostClassInfo one = t.node;
    one.codelet += "@" + t.implementation;
    out.set(one, t.cost);
  }
  return out;
}

KernelTimes measure_kernels(const PreparedProgram& prepared, const LayerTable& layers,
                            starpu::Machine& machine, const KernelOptions& kernels,
                            const CalibrationLimits& limits, std::uint64_t seed,
                            const std::atomic<bool>* stop) {
  const auto begin = Clock::now();
  const auto candidates = candidates_of(prepared, layers, kernels);
  KernelTimes out;
  const starpu::Machine::Work work;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (stop != nullptr && *stop) break;
    const auto weights = make_weight_cache();
    // what the quick ones leave is for the others
    const double share =
        (limits.max_seconds - seconds_since(begin)) / static_cast<double>(candidates.size() - i);
    Shared shared{candidates[i], kernels, *weights, std::max(0.0, share), limits.relative_error, seed,
                  stop,          {},      {}};
    machine.on_each_worker(measure, &shared);
    if (shared.failed || shared.times.empty()) continue;
    const std::size_t n = shared.times.size();
    const MedianInterval m = median_interval(shared.times);
    if (!(m.median > 0)) continue;
    out.times.push_back({candidates[i].info,
                         std::string(candidates[i].implementation->name),
                         {robust_mean(shared.times), (m.high - m.low) / 2 / m.median, n},
                         candidates[i].chosen});
  }
  out.seconds = seconds_since(begin);
  out.interrupted = stop != nullptr && *stop;
  return out;
}

}  // namespace espalier
