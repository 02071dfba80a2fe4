#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graphs/base/units.hpp"

/// What a scheduler sees of a computation: tasks, data and accesses in compact arrays (10^6 tasks in < 1 GB).
namespace espalier {

using TaskId = std::uint32_t;
using DataId = std::uint32_t;
using CostClass = std::uint32_t;  ///< tasks of one class take equally long: row of a CostTable
using MemoryId = std::uint16_t;
constexpr TaskId kNoTask = ~TaskId{0};

enum class AccessMode : std::uint8_t { read = 1, write = 2, read_write = 3 };
constexpr bool reads(AccessMode m) {
  return (static_cast<int>(m) & 1) != 0;
}
constexpr bool writes(AccessMode m) {
  return (static_cast<int>(m) & 2) != 0;
}

struct Access {
  DataId data;
  AccessMode mode;
};

struct Task {
  CostClass cost_class = 0;
  std::int32_t micro_batch = -1;  ///< -1: none
  std::int32_t priority = 0;      ///< hint of the one who built the graph; greater is sooner
  std::int32_t layer = -1;        ///< index into layer_names, -1: none
};

/// What the tasks of one class have in common.
struct CostClassInfo {
  std::string codelet;    ///< "conv2d_forward", "potrf", ...
  std::string signature;  ///< shapes and parameters in words; with the codelet the key of measured costs
  Flops flops;
  Bytes bytes;  ///< read and written by the kernel
  std::uint64_t footprint =
      0;  ///< hash of codelet and signature, stable over runs: the performance models' key
};

struct DataInfo {
  Bytes size;
  MemoryId home = 0;       ///< where it is at the start, if nothing in the graph writes it first
  bool is_result = false;  ///< must be back at home at the end
};

/// Immutable once built. Tasks are in submission order, which is a topological order; dependencies are those
/// of sequential consistency over the accesses (read after write, write after read and write) and the
/// explicit ones.
class TaskGraph {
 public:
  std::string name;
  std::vector<std::string> layer_names;
  std::vector<CostClassInfo> classes;
  double samples = 0;      ///< samples that one execution processes; 0: not a network
  bool unit_less = false;  ///< times are the file's own units, not seconds

  std::size_t task_count() const { return tasks_.size(); }
  std::size_t data_count() const { return data_.size(); }
  std::size_t edge_count() const { return predecessors_.size(); }
  const Task& task(TaskId t) const { return tasks_[t]; }
  const DataInfo& data(DataId d) const { return data_[d]; }
  const CostClassInfo& class_of(TaskId t) const { return classes[tasks_[t].cost_class]; }
  std::span<const Access> accesses(TaskId t) const { return slice(accesses_, access_begin_, t); }
  std::span<const TaskId> predecessors(TaskId t) const { return slice(predecessors_, predecessor_begin_, t); }
  std::span<const TaskId> successors(TaskId t) const { return slice(successors_, successor_begin_, t); }
  /// The hint is the one thing that may change later: no fingerprint rests on it.
  void set_priority(TaskId t, std::int32_t priority) { tasks_[t].priority = priority; }
  /// Name of a task for people: "conv1 #3" from layer and micro-batch, or the given one, or the codelet and
  /// id.
  std::string task_name(TaskId t) const;
  /// Hash of tasks, accesses, classes and data, in a Plan to tell that it belongs to this graph.
  std::uint64_t fingerprint() const;

 private:
  friend class TaskGraphBuilder;
  template <class T>
  static std::span<const T> slice(const std::vector<T>& items, const std::vector<std::uint32_t>& begin,
                                  std::uint32_t i) {
    return {items.data() + begin[i], begin[i + 1] - begin[i]};
  }
  std::vector<Task> tasks_;
  std::vector<DataInfo> data_;
  std::vector<Access> accesses_;
  std::vector<std::uint32_t> access_begin_, predecessor_begin_, successor_begin_;
  std::vector<TaskId> predecessors_, successors_;
  std::vector<std::string> task_names_;  ///< empty, or one for each task
};

/// Adds tasks in submission order. An explicit dependency may name a later task: build() then sorts the tasks
/// topologically (smallest id first) and InputError names a cycle when there is one.
class TaskGraphBuilder {
 public:
  CostClass add_class(CostClassInfo info);  ///< the same codelet and signature give the same class
  DataId add_data(DataInfo info);
  /// A datum named twice counts as one access with both modes.
  TaskId add_task(Task task, std::span<const Access> accesses, std::string task_name = {});
  void add_dependency(TaskId before, TaskId after);
  std::int32_t add_layer(std::string layer_name);
  TaskGraph build();
  TaskGraph& graph() { return graph_; }  ///< to set name, samples, unit_less

 private:
  void add_accesses(std::span<const Access> accesses);
  TaskGraph graph_;
  std::vector<std::pair<TaskId, TaskId>> explicit_;
  std::unordered_multimap<std::uint64_t, CostClass> class_index_;
};

}  // namespace espalier
