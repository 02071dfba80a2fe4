#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/task_graph/task_graph.hpp"

/// Task graphs from files that others made, and from generators. README.md lists the formats.
namespace espalier {

/// One unit of an edge's weight in a unit-less graph is this many bytes, so that fractions of a unit are kept
/// in whole bytes; the links of identical:P move this many bytes in one unit of time.
constexpr double kBytesPerUnit = 1e6;

/// Times that a file gives for its own tasks, by the role of the device.
class GivenCosts final : public CostModel {
 public:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  struct Times {
    double cpu = kUnknown;          ///< seconds on a CPU
    double accelerator = kUnknown;  ///< seconds on a GPU or another device
  };
  /// The class must be one that a builder has returned for the graph (its footprint is the key).
  void set(const CostClassInfo& what, Times times) { times_[what.footprint] = times; }
  /// What the times rest on; "given" where it is not told.
  void set_basis(CostBasis basis) { basis_ = std::move(basis); }
  /// The time of the kind's role. A kind of type `other` (identical:P) takes the
  /// accelerator's time, or the CPU's where there is no other.
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;

 private:
  std::unordered_map<std::uint64_t, Times> times_;
  CostBasis basis_{CostSource::given, {}};
};

struct LoadedTaskGraph {
  TaskGraph graph;
  std::shared_ptr<const GivenCosts> given;  ///< nullptr: the source has no times
};

struct TaskGraphOptions {
  bool training = true;   ///< profiles with backward times: also the backward tasks
  int micro_batches = 1;  ///< profiles of networks: this many batches pass through
};

/// Each reads the text of one file; `name` stands in front of errors ("graph.stg:12: ...") and names the
/// graph. InputError with the line for what is malformed, with the tasks for a cycle.
LoadedTaskGraph read_stg(std::string_view text, const std::string& name);
LoadedTaskGraph read_dot(std::string_view text, const std::string& name);
LoadedTaskGraph read_pipedream(std::string_view text, const std::string& name,
                               const TaskGraphOptions& options = {});
LoadedTaskGraph read_dnn_partitioning(std::string_view text, const std::string& name,
                                      const TaskGraphOptions& options = {});
LoadedTaskGraph read_wfcommons(std::string_view text, const std::string& name);

/// "cholesky:20", "layered:layers=10,width=8,seed=3", ...; see generators.hpp.
bool is_generator(std::string_view text);
LoadedTaskGraph generate(std::string_view text);

/// Whether a path's ending is one of a task-graph file: .stg, .dot, .gv, .txt (PipeDream), .json.
bool is_task_graph_path(std::string_view path);
/// A generator or a file, told apart by name, ending and content. InputError listing what is accepted.
LoadedTaskGraph load_task_graph(const std::string& text, const TaskGraphOptions& options = {});

}  // namespace espalier
