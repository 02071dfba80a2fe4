#pragma once

#include "schedulers/common/bounds.hpp"
#include "schedulers/common/instance.hpp"
#include "schedulers/common/linear_program.hpp"

namespace espalier {

/// The common part of the allocation LPs: a column for each cost class and kind that can run it (share of the
/// class's tasks there), the makespan, rows that place every task and balance the kinds' loads. Times are in
/// units of the sum of all tasks' least times, so that the makespan lies in [0, 1].
class FractionalAllocation {
 public:
  explicit FractionalAllocation(const Instance& instance);

  LinearProgram& program() { return program_; }
  int makespan_column() const { return 0; }
  /// -1: the kind cannot run the class or has no worker.
  int share_column(CostClass c, KindId k) const { return share_[c * kinds_ + k]; }
  double tasks_of(CostClass c) const { return tasks_of_[c]; }
  double workers_of(KindId k) const { return workers_of_[k]; }
  double unit() const { return unit_; }
  /// Time of a class on a kind in the LP's unit.
  double scaled(CostClass c, KindId k) const;
  /// Adds a term to the load of a kind.
  void add_load(KindId k, LinearProgram::Term term) { load_[k].push_back(term); }
  /// For a task that is modelled by itself: it no longer counts in its class.
  void take_out(CostClass c) { tasks_of_[c] -= 1; }
  /// Adds the rows of classes and loads; call once, after the other rows' columns are known.
  void close();

 private:
  const Instance& instance_;
  std::size_t kinds_;
  LinearProgram program_;
  std::vector<double> tasks_of_, workers_of_;
  std::vector<int> share_;
  std::vector<std::vector<LinearProgram::Term>> load_;
  double unit_ = 0;
};

}  // namespace espalier
