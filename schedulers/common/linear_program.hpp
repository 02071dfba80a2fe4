#pragma once

#include <span>
#include <vector>

namespace espalier {

/// min cost . x under rows >= right-hand sides and finite boxes for x; solved by COIN-OR Clp. What is
/// returned is the Lagrangian bound of Clp's row prices over the boxes: it is valid however the solver's
/// rounding or its time limit left the prices.
class LinearProgram {
 public:
  struct Term {
    int column;
    double factor;
  };
  int add_column(double cost, double lower, double upper);
  void add_row_at_least(double right_hand_side, std::span<const Term> terms);
  /// Adds both directions.
  void add_row_equal(double right_hand_side, std::span<const Term> terms);
  /// A lower bound on the optimum, the optimum itself up to rounding when the solver ends in time.
  double lower_bound(double seconds_limit);
  /// Values of the columns after lower_bound().
  const std::vector<double>& solution() const { return solution_; }
  std::size_t columns() const { return cost_.size(); }
  std::size_t rows() const { return right_.size(); }

 private:
  double lagrangian(const double* price) const;
  std::vector<double> cost_, lower_, upper_, right_, factor_, solution_;
  std::vector<int> row_begin_{0}, column_;
};

}  // namespace espalier
