#include "runtime/task_graph/sources/profile_builder.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "graphs/base/error.hpp"

namespace espalier::source {
namespace {

constexpr std::size_t kMostTasks = 20'000'000;

std::string times_in_words(const GivenCosts::Times& t) {
  const auto one = [](double v) { return std::isnan(v) ? std::string("-") : fmt::format("{} s", v); };
  return fmt::format("cpu {} accelerator {}", one(t.cpu), one(t.accelerator));
}

class Builder {
 public:
  Builder(const NetworkProfile& profile, const TaskGraphOptions& options)
      : profile_(profile), options_(options), given_(std::make_shared<GivenCosts>()) {}

  LoadedTaskGraph build() {
    const std::size_t n = profile_.layers.size();
    std::vector<std::string> names;
    for (const LayerProfile& l : profile_.layers) names.push_back(l.name);
    const auto order = topological_order(n, profile_.edges, names, profile_.name);
    if (options_.micro_batches < 1 ||
        static_cast<std::size_t>(options_.micro_batches) > kMostTasks / (2 * n + 1))
      throw InputError(fmt::format("{}: {} micro-batches of {} layers are outside 1 .. {}", profile_.name,
                                   options_.micro_batches, n, kMostTasks / (2 * n + 1)));
    builder_.graph().name = profile_.name;
    given_->set_basis(profile_.basis);
    group_outputs();
    for (std::size_t l = 0; l < n; ++l) any_backward_ = any_backward_ || trains(l);
    for (std::size_t l = 0; l < n; ++l) {
      builder_.add_layer(names[l]);
      const Bytes bytes(profile_.layers[l].parameter_bytes);
      weights_.push_back(bytes.value > 0 ? builder_.add_data({bytes}) : 0);
      weight_gradients_.push_back(bytes.value > 0 && trains(l) ? builder_.add_data({bytes}) : 0);
    }
    for (int m = 0; m < options_.micro_batches; ++m) {
      new_activations();
      for (const std::uint32_t l : order) forward(l, m);
      for (auto l = order.rbegin(); l != order.rend(); ++l)
        if (trains(*l)) backward(*l, m);
    }
    return {builder_.build(), given_};
  }

 private:
  bool trains(std::size_t l) const { return options_.training && profile_.layers[l].has_backward; }

  /// Edges of one producer and one size carry the same datum.
  void group_outputs() {
    inputs_.resize(profile_.layers.size());
    outputs_.resize(profile_.layers.size());
    std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> group;
    for (std::size_t e = 0; e < profile_.edges.size(); ++e) {
      const auto [from, to] = profile_.edges[e];
      const auto [it, is_new] = group.try_emplace({from, profile_.output_bytes[e]}, group_bytes_.size());
      if (is_new) {
        group_bytes_.push_back(profile_.output_bytes[e]);
        outputs_[from].push_back(it->second);
      }
      auto& in = inputs_[to];
      if (std::find(in.begin(), in.end(), it->second) == in.end()) in.push_back(it->second);
    }
  }

  void new_activations() {
    activations_.clear();
    gradients_.clear();
    for (const std::int64_t bytes : group_bytes_) {
      activations_.push_back(builder_.add_data({Bytes(bytes)}));
      gradients_.push_back(any_backward_ ? builder_.add_data({Bytes(bytes)}) : 0);
      touched_.assign(group_bytes_.size(), 0);
    }
  }

  void add(std::uint32_t l, int micro_batch, const char* direction, const GivenCosts::Times& times,
           const std::vector<Access>& accesses) {
    std::int64_t bytes = 0;
    for (const Access& a : accesses) bytes += sizes_of(a);
    const CostClass c = builder_.add_class(
        {profile_.layers[l].operation + direction,
         fmt::format("{} {}", profile_.layers[l].name, times_in_words(times)), Flops(0), Bytes(bytes), 0});
    given_->set(builder_.graph().classes[c], times);
    Task task;
    task.cost_class = c;
    task.micro_batch = options_.micro_batches > 1 ? micro_batch : -1;
    task.layer = static_cast<std::int32_t>(l);
    task.priority = options_.micro_batches - micro_batch;
    builder_.add_task(task, accesses,
                      options_.micro_batches > 1
                          ? fmt::format("{}{} #{}", profile_.layers[l].name, direction, micro_batch)
                          : profile_.layers[l].name + direction);
  }

  std::int64_t sizes_of(const Access& a) {
    const std::int64_t size = builder_.graph().data(a.data).size.value;
    return a.mode == AccessMode::read_write ? 2 * size : size;
  }

  void forward(std::uint32_t l, int m) {
    std::vector<Access> accesses;
    for (const std::size_t g : inputs_[l]) accesses.push_back({activations_[g], AccessMode::read});
    if (profile_.layers[l].parameter_bytes > 0) accesses.push_back({weights_[l], AccessMode::read});
    for (const std::size_t g : outputs_[l]) accesses.push_back({activations_[g], AccessMode::write});
    add(l, m, "_forward", profile_.layers[l].forward, accesses);
  }

  void backward(std::uint32_t l, int m) {
    std::vector<Access> accesses;
    for (const std::size_t g : inputs_[l]) accesses.push_back({activations_[g], AccessMode::read});
    for (const std::size_t g : outputs_[l]) {
      accesses.push_back({activations_[g], AccessMode::read});
      if (touched_[g] != 0) accesses.push_back({gradients_[g], AccessMode::read});
    }
    if (profile_.layers[l].parameter_bytes > 0) {
      accesses.push_back({weights_[l], AccessMode::read});
      accesses.push_back({weight_gradients_[l], m == 0 ? AccessMode::write : AccessMode::read_write});
    }
    for (const std::size_t g : inputs_[l]) {  // several consumers add up
      accesses.push_back({gradients_[g], touched_[g] == 0 ? AccessMode::write : AccessMode::read_write});
      touched_[g] = 1;
    }
    add(l, m, "_backward", profile_.layers[l].backward, accesses);
  }

  const NetworkProfile& profile_;
  const TaskGraphOptions& options_;
  TaskGraphBuilder builder_;
  std::shared_ptr<GivenCosts> given_;
  std::vector<std::vector<std::size_t>> inputs_, outputs_;  ///< groups by layer
  std::vector<std::int64_t> group_bytes_;
  std::vector<DataId> weights_, weight_gradients_, activations_, gradients_;
  bool any_backward_ = false;
  std::vector<char> touched_;  ///< by group: its gradient has been written
};

}  // namespace

LoadedTaskGraph to_task_graph(const NetworkProfile& profile, const TaskGraphOptions& options) {
  return Builder(profile, options).build();
}

}  // namespace espalier::source
