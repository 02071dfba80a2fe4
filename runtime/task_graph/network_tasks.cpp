#include "runtime/task_graph/network_tasks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/codelet_name.hpp"
#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

constexpr int kMostReplicas = 16;
constexpr std::int64_t kTokenBytes = 4;

bool one_of(std::string_view op, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), op) != set.end();
}

/// Layers whose gradient of the inputs and of the parameters are two matrix products.
bool is_matrix_layer(const Node& node) {
  return one_of(node.op, {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"});
}

/// Extent of the output's channels, or 0 when the layer is not split.
std::int64_t split_extent(const Graph& graph, const Node& node) {
  if (!one_of(node.op, {"Conv", "Gemm", "MatMul"}) || node.outputs.empty()) return 0;
  if (node.inputs.size() < 2 || graph.constant(node.inputs[1]) == nullptr) return 0;
  const Shape& s = graph.type(node.outputs[0]).shape;
  return s.rank() == 0 ? 0 : s[s.rank() - 1];
}

/// What depends on the network alone, not on the micro-batch.
struct NodePlan {
  bool skip = false;      ///< makes no task
  bool gradient = false;  ///< a backward pass goes through it
  int parts = 1;
  std::int32_t layer = -1;
  std::string codelet, signature;
  LayerCost cost{};
  std::vector<ValueId> inputs, outputs;  ///< at run time, without constants
  std::vector<ValueId> parameters;       ///< constants that are trained
  std::int64_t constant_bytes = 0;
};

class Builder {
 public:
  Builder(const NetworkUnits& network, const LayerTable& layers, const NetworkTaskOptions& options)
      : network_(network), layers_(layers), options_(options) {
    if (network.variants.empty() || network.units.empty())
      throw InternalError("a network without micro-batches");
    if (options.replicas < 0 || options.replicas > 1024)
      throw InputError(fmt::format("{} replicas: accepted are 1 .. 1024", options.replicas));
    if (options.split < 1 || options.split > kMostSplit)
      throw InputError(fmt::format("a split into {} parts: accepted are 1 .. {}", options.split, kMostSplit));
    const auto units = static_cast<int>(std::min<std::size_t>(network.units.size(), 1 << 20));
    replicas_ = options.replicas > 0 ? std::min(options.replicas, units) : std::min(units, kMostReplicas);
  }

  TaskGraph build() {
    const Graph& first = *network_.variants[0];
    builder_.graph().name = first.name;
    builder_.graph().samples = network_.samples;
    for (const Node& n : first.nodes) builder_.add_layer(n.name);
    for (const auto& g : network_.variants) plans_.push_back(plan(*g));
    add_parameters();
    for (std::size_t u = 0; u < network_.units.size(); ++u) {
      unit_ = static_cast<std::int32_t>(u);
      begin_unit();
      forward();
      if (options_.training) backward();
    }
    if (options_.training) update();
    TaskGraph graph = builder_.build();
    set_path_priorities(graph);
    return graph;
  }

 private:
  using Parts = std::vector<DataId>;
  struct Parameter {
    Parts data;                       ///< by part
    std::vector<Parts> gradients;     ///< by replica, by part; empty: none
    std::vector<Parts> tokens;        ///< likewise: written with the gradients for the collective to wait for
    std::vector<char> touched;        ///< by replica: written before
    std::vector<std::int64_t> bytes;  ///< by part
    std::int32_t layer = -1;
  };
  struct Activation {
    Parts data, gradient;
    std::vector<std::int64_t> bytes;
    std::vector<char> touched;  ///< by part: the gradient was written before
  };

  const Graph& graph() const { return *network_.variants[network_.units[static_cast<std::size_t>(unit_)]]; }
  const std::vector<NodePlan>& plan_of_unit() const {
    return plans_[network_.units[static_cast<std::size_t>(unit_)]];
  }

  std::vector<NodePlan> plan(const Graph& g) const {
    std::vector<NodePlan> plans(g.nodes.size());
    std::vector<char> trained(g.values.size(), 0);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const Node& node = g.nodes[i];
      NodePlan& p = plans[i];
      p.layer = static_cast<std::int32_t>(i);
      for (const ValueId v : node.inputs) {
        if (v == kAbsent) continue;
        if (const Tensor* c = g.constant(v); c != nullptr) {
          p.constant_bytes += c->bytes();
          if (is_float(c->dtype())) p.parameters.push_back(v);
        } else if (std::find(p.inputs.begin(), p.inputs.end(), v) == p.inputs.end()) {
          p.inputs.push_back(v);
          p.gradient = p.gradient || trained[static_cast<std::size_t>(v)] != 0;
        }
      }
      for (const ValueId v : node.outputs)
        if (v != kAbsent) p.outputs.push_back(v);
      p.skip = is_alias(layers_, node) || p.outputs.empty() ||
               std::all_of(p.outputs.begin(), p.outputs.end(),
                           [&](ValueId v) { return g.constant(v) != nullptr; });
      const bool floats = !p.outputs.empty() && is_float(g.type(p.outputs[0]).dtype);
      p.gradient = floats && (p.gradient || !p.parameters.empty());
      for (const ValueId v : p.outputs) trained[static_cast<std::size_t>(v)] = p.gradient ? 1 : 0;
      if (p.skip) continue;
      p.codelet = codelet_name(g, node);
      p.signature = signature_of(g, node);
      p.cost = layers_.at(node).cost(view_of(g, node));
      if (const std::int64_t channels = split_extent(g, node);
          options_.split > 1 && channels >= options_.split)
        p.parts = options_.split;
    }
    return plans;
  }

  static std::int64_t share(std::int64_t bytes, int parts, int part) {
    return bytes * (part + 1) / parts - bytes * part / parts;
  }

  /// Parameters are shared by all micro-batches; one that several nodes use is split as its first user is.
  void add_parameters() {
    const Graph& g = *network_.variants[0];
    for (const NodePlan& p : plans_[0]) {
      if (p.skip) continue;
      for (const ValueId v : p.parameters) {
        auto [it, is_new] = parameters_.try_emplace(v);
        if (!is_new) continue;
        Parameter& q = it->second;
        q.layer = p.layer;
        q.touched.assign(static_cast<std::size_t>(replicas_), 0);
        if (options_.training) q.gradients.resize(static_cast<std::size_t>(replicas_));
        if (options_.training && collective()) q.tokens.resize(static_cast<std::size_t>(replicas_));
        for (int part = 0; part < p.parts; ++part) {
          q.bytes.push_back(share(g.constant(v)->bytes(), p.parts, part));
          q.data.push_back(builder_.add_data({Bytes(q.bytes.back())}));
          for (Parts& copy : q.gradients) copy.push_back(builder_.add_data({Bytes(q.bytes.back())}));
          for (Parts& copy : q.tokens) copy.push_back(builder_.add_data({Bytes(kTokenBytes)}));
        }
      }
    }
  }

  void begin_unit() {
    const Graph& g = graph();
    activations_.assign(g.values.size(), {});
    alias_.resize(g.values.size());
    for (std::size_t v = 0; v < alias_.size(); ++v) alias_[v] = static_cast<ValueId>(v);
    for (const ValueId v : g.inputs) add_activation(v, 1, false);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const NodePlan& p = plan_of_unit()[i];
      if (!p.skip || p.outputs.empty() || p.inputs.empty()) continue;
      alias_[static_cast<std::size_t>(p.outputs[0])] = alias_[static_cast<std::size_t>(p.inputs[0])];
    }
    results_.assign(g.values.size(), 0);
    for (const ValueId v : g.outputs)
      results_[static_cast<std::size_t>(alias_[static_cast<std::size_t>(v)])] = 1;
  }

  Activation& activation(ValueId v) {
    return activations_[static_cast<std::size_t>(alias_[static_cast<std::size_t>(v)])];
  }

  void add_activation(ValueId v, int parts, bool result) {
    Activation& a = activations_[static_cast<std::size_t>(v)];
    const std::int64_t bytes = graph().type(v).bytes();
    for (int part = 0; part < parts; ++part) {
      a.bytes.push_back(share(bytes, parts, part));
      a.data.push_back(builder_.add_data({Bytes(a.bytes.back()), 0, result}));
    }
    a.touched.assign(a.data.size(), 0);
  }

  void need_gradient(Activation& a) {
    if (a.gradient.empty())
      for (const std::int64_t b : a.bytes) a.gradient.push_back(builder_.add_data({Bytes(b)}));
  }

  void read_all(const Activation& a) {
    for (std::size_t i = 0; i < a.data.size(); ++i) {
      accesses_.push_back({a.data[i], AccessMode::read});
      bytes_ += a.bytes[i];
    }
  }

  void add(const std::string& codelet, const std::string& signature, Flops flops, std::int32_t layer,
           std::int32_t micro_batch, std::string name = {}) {
    const CostClass c = builder_.add_class({codelet, signature, flops, Bytes(bytes_), 0});
    Task t;
    t.cost_class = c;
    t.micro_batch = micro_batch;
    t.layer = layer;
    builder_.add_task(t, accesses_, std::move(name));
    accesses_.clear();
    bytes_ = 0;
  }
  static std::string part_of(const NodePlan& p) {
    return p.parts == 1 ? p.signature : fmt::format("{} part 1/{}", p.signature, p.parts);
  }

  void read_parameters(const NodePlan& p, int part) {
    std::int64_t trained = 0;
    for (const ValueId v : p.parameters) {
      const Parameter& q = parameters_.at(v);
      for (std::size_t i = 0; i < q.data.size(); ++i) {
        if (static_cast<int>(q.data.size()) == p.parts && static_cast<int>(i) != part) continue;
        accesses_.push_back({q.data[i], AccessMode::read});
        bytes_ += q.bytes[i];
      }
      for (const std::int64_t b : q.bytes) trained += b;
    }
    bytes_ += std::max<std::int64_t>(0, p.constant_bytes - trained) / p.parts;
  }

  void forward() {
    const auto& plans = plan_of_unit();
    for (const NodePlan& p : plans) {
      if (p.skip) continue;
      for (const ValueId v : p.outputs) {
        const bool result = !options_.training && results_[static_cast<std::size_t>(v)] != 0;
        add_activation(v, v == p.outputs[0] ? p.parts : 1, result);
      }
      for (int part = 0; part < p.parts; ++part) {
        for (const ValueId v : p.inputs) read_all(activation(v));
        read_parameters(p, part);
        for (const ValueId v : p.outputs) {
          Activation& a = activation(v);
          if (v != p.outputs[0] && part > 0) continue;
          const std::size_t i = v == p.outputs[0] ? static_cast<std::size_t>(part) : 0;
          accesses_.push_back({a.data[i], AccessMode::write});
          bytes_ += a.bytes[i];
        }
        add(p.codelet, part_of(p), p.cost.flops / static_cast<double>(p.parts), p.layer, unit_);
      }
    }
  }

  std::string base_of(const NodePlan& p) const {
    constexpr std::string_view ending = "_forward";
    return p.codelet.ends_with(ending) ? p.codelet.substr(0, p.codelet.size() - ending.size()) : p.codelet;
  }

  void loss() {
    const Graph& g = graph();
    double elements = 0;
    for (const ValueId v : g.outputs) {
      Activation& a = activation(v);
      if (a.data.empty() || !is_float(g.type(v).dtype)) continue;
      elements += static_cast<double>(g.type(v).shape.elements());
      read_all(a);
      need_gradient(a);
      for (std::size_t i = 0; i < a.gradient.size(); ++i) {
        accesses_.push_back({a.gradient[i], AccessMode::write});
        bytes_ += a.bytes[i];
        a.touched[i] = 1;
      }
    }
    add("loss_backward", fmt::format("{} values", elements), Flops(6 * elements), -1, unit_,
        fmt::format("loss #{}", unit_));
  }

  void backward() {
    loss();
    const auto& plans = plan_of_unit();
    for (auto p = plans.rbegin(); p != plans.rend(); ++p) {
      if (p->skip || !p->gradient) continue;
      bool reached = false;  // an output that the loss does not depend on has no gradient
      for (const ValueId v : p->outputs)
        for (const char t : activation(v).touched) reached = reached || t != 0;
      if (!reached) continue;
      for (int part = 0; part < p->parts; ++part) {
        const bool to_inputs =
            std::any_of(p->inputs.begin(), p->inputs.end(), [&](ValueId v) { return wants_gradient(v); });
        const bool two =
            is_matrix_layer(graph().nodes[static_cast<std::size_t>(p->layer)]) && !p->parameters.empty();
        if (two && to_inputs) {
          read_gradients(*p, part);
          read_parameters(*p, part);
          write_input_gradients(*p);
          add(base_of(*p) + "_backward_input", part_of(*p), part_flops(*p), p->layer, unit_,
              name_of(*p, "backward-input", part));
        }
        read_gradients(*p, part);
        for (const ValueId v : p->inputs) read_all(activation(v));
        if (!two) {
          for (const ValueId v : p->outputs) read_all(activation(v));
          read_parameters(*p, part);
          write_input_gradients(*p);
        }
        write_parameter_gradients(*p, part);
        if (two)
          add(base_of(*p) + "_backward_weight", part_of(*p), part_flops(*p), p->layer, unit_,
              name_of(*p, "backward-weight", part));
        else
          add(base_of(*p) + "_backward", part_of(*p), part_flops(*p), p->layer, unit_,
              name_of(*p, "backward", part));
      }
    }
  }

  static Flops part_flops(const NodePlan& p) { return p.cost.flops / static_cast<double>(p.parts); }
  std::string name_of(const NodePlan& p, const char* what, int part) const {
    const std::string& layer = graph().nodes[static_cast<std::size_t>(p.layer)].name;
    return p.parts == 1 ? fmt::format("{} {} #{}", layer, what, unit_)
                        : fmt::format("{} {} #{}.{}", layer, what, unit_, part);
  }

  /// A value that a trained layer stands before.
  bool wants_gradient(ValueId v) {
    const auto producer = producers()[static_cast<std::size_t>(alias_[static_cast<std::size_t>(v)])];
    return producer >= 0 && plan_of_unit()[static_cast<std::size_t>(producer)].gradient;
  }
  const std::vector<std::int32_t>& producers() {
    const std::uint32_t variant = network_.units[static_cast<std::size_t>(unit_)];
    auto [it, is_new] = producers_.try_emplace(variant);
    if (is_new) it->second = graph().producers();
    return it->second;
  }

  void read_gradients(const NodePlan& p, int part) {
    for (const ValueId v : p.outputs) {
      const Activation& a = activation(v);
      for (std::size_t i = 0; i < a.gradient.size(); ++i) {
        if (v == p.outputs[0] && p.parts > 1 && static_cast<int>(i) != part) continue;
        if (a.touched[i] == 0) continue;
        accesses_.push_back({a.gradient[i], AccessMode::read});
        bytes_ += a.bytes[i];
      }
    }
  }

  /// The consumers of a value add their parts up.
  void write_input_gradients(const NodePlan& p) {
    for (const ValueId v : p.inputs) {
      if (!wants_gradient(v)) continue;
      Activation& a = activation(v);
      need_gradient(a);
      for (std::size_t i = 0; i < a.gradient.size(); ++i) {
        accesses_.push_back({a.gradient[i], a.touched[i] != 0 ? AccessMode::read_write : AccessMode::write});
        bytes_ += a.touched[i] != 0 ? 2 * a.bytes[i] : a.bytes[i];
        a.touched[i] = 1;
      }
    }
  }

  void write_parameter_gradients(const NodePlan& p, int part) {
    const auto replica = static_cast<std::size_t>(unit_ % replicas_);
    for (const ValueId v : p.parameters) {
      Parameter& q = parameters_.at(v);
      const bool split = static_cast<int>(q.data.size()) == p.parts && p.parts > 1;
      for (std::size_t i = 0; i < q.data.size(); ++i) {
        if (split && static_cast<int>(i) != part) continue;
        const bool add_up = unit_ >= replicas_ || (!split && q.touched[replica] != 0);
        const AccessMode mode = add_up ? AccessMode::read_write : AccessMode::write;
        accesses_.push_back({q.gradients[replica][i], mode});
        if (collective()) accesses_.push_back({q.tokens[replica][i], mode});
        bytes_ += q.bytes[i];
      }
      if (!split) q.touched[replica] = 1;
    }
  }

  bool collective() const { return options_.all_reduce && replicas_ > 1; }

  void all_reduce(const Parameter& q, std::size_t part) {
    for (std::size_t r = 1; r < q.tokens.size(); ++r)
      accesses_.push_back({q.tokens[r][part], AccessMode::read});
    accesses_.push_back({q.gradients[0][part], AccessMode::read_write});
    bytes_ = (replicas_ + 1) * q.bytes[part];
    add("gradient_all_reduce", fmt::format("{} bytes of {} replicas", q.bytes[part], replicas_),
        Flops(static_cast<double>(q.bytes[part]) / 4 * (replicas_ - 1)), q.layer, -1,
        fmt::format("{} all-reduce", layer_name(q.layer)));
  }

  /// Adds the replicas' gradients up, in a tree or by a collective, and updates the parameters, a task for
  /// each layer's parameter.
  void update() {
    for (auto& [v, q] : parameters_)
      for (std::size_t i = 0; i < q.data.size(); ++i) {
        const std::string size = fmt::format("{} bytes", q.bytes[i]);
        const Flops flops(static_cast<double>(q.bytes[i]) / 4);
        if (collective()) all_reduce(q, i);
        for (int step = collective() ? replicas_ : 1; step < replicas_; step *= 2)
          for (int r = 0; r + step < replicas_; r += 2 * step) {
            accesses_.push_back({q.gradients[static_cast<std::size_t>(r + step)][i], AccessMode::read});
            accesses_.push_back({q.gradients[static_cast<std::size_t>(r)][i], AccessMode::read_write});
            bytes_ = 3 * q.bytes[i];
            add("gradient_sum", size, flops, q.layer, -1,
                fmt::format("{} gradient sum", layer_name(q.layer)));
          }
        accesses_.push_back({q.gradients[0][i], AccessMode::read});
        accesses_.push_back({q.data[i], AccessMode::read_write});
        bytes_ = 3 * q.bytes[i];
        add("sgd_update", size, flops * 2.0, q.layer, -1, fmt::format("{} update", layer_name(q.layer)));
      }
  }
  std::string layer_name(std::int32_t layer) {
    return builder_.graph().layer_names[static_cast<std::size_t>(layer)];
  }

  const NetworkUnits& network_;
  const LayerTable& layers_;
  const NetworkTaskOptions& options_;
  TaskGraphBuilder builder_;
  int replicas_ = 1;
  std::vector<std::vector<NodePlan>> plans_;  ///< by variant
  std::map<ValueId, Parameter> parameters_;   ///< values have the same ids in all variants
  std::map<std::uint32_t, std::vector<std::int32_t>> producers_;
  std::int32_t unit_ = 0;
  std::vector<Activation> activations_;
  std::vector<ValueId> alias_;
  std::vector<char> results_;
  std::vector<Access> accesses_;
  std::int64_t bytes_ = 0;
};

}  // namespace

TaskGraph network_tasks(const NetworkUnits& network, const LayerTable& layers,
                        const NetworkTaskOptions& options) {
  return Builder(network, layers, options).build();
}

void set_path_priorities(TaskGraph& graph) {
  constexpr double flops = 10e12, bandwidth = 600e9, overhead = 5e-6;
  const std::size_t n = graph.task_count();
  std::vector<double> way(n, 0);
  double longest = 0;
  for (TaskId t = static_cast<TaskId>(n); t-- > 0;) {
    for (const TaskId s : graph.successors(t)) way[t] = std::max(way[t], way[s]);
    const CostClassInfo& c = graph.class_of(t);
    way[t] += overhead + std::max(c.flops.value / flops, static_cast<double>(c.bytes.value) / bandwidth);
    longest = std::max(longest, way[t]);
  }
  for (TaskId t = 0; t < n; ++t)
    graph.set_priority(t, static_cast<std::int32_t>(way[t] / longest * 1'000'000));
}

}  // namespace espalier
