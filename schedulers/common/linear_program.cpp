#include "schedulers/common/linear_program.hpp"

#include <algorithm>
#include <coin/ClpSimplex.hpp>
#include <limits>

namespace espalier {

int LinearProgram::add_column(double cost, double lower, double upper) {
  cost_.push_back(cost);
  lower_.push_back(lower);
  upper_.push_back(upper);
  return static_cast<int>(cost_.size()) - 1;
}

void LinearProgram::add_row_at_least(double right_hand_side, std::span<const Term> terms) {
  for (const Term& t : terms) {
    column_.push_back(t.column);
    factor_.push_back(t.factor);
  }
  row_begin_.push_back(static_cast<int>(column_.size()));
  right_.push_back(right_hand_side);
}

void LinearProgram::add_row_equal(double right_hand_side, std::span<const Term> terms) {
  add_row_at_least(right_hand_side, terms);
  std::vector<Term> negated(terms.begin(), terms.end());
  for (Term& t : negated) t.factor = -t.factor;
  add_row_at_least(-right_hand_side, negated);
}

/// For prices y >= 0: y.b + sum over columns of the least of (c - yA) x in the box.
double LinearProgram::lagrangian(const double* price) const {
  std::vector<double> reduced = cost_;
  double value = 0;
  for (std::size_t row = 0; row < right_.size(); ++row) {
    const double y = std::max(0.0, price[row]);
    value += y * right_[row];
    for (int i = row_begin_[row]; i < row_begin_[row + 1]; ++i) reduced[column_[i]] -= y * factor_[i];
  }
  for (std::size_t j = 0; j < cost_.size(); ++j)
    value += std::min(reduced[j] * lower_[j], reduced[j] * upper_[j]);
  return value;
}

double LinearProgram::lower_bound(double seconds_limit) {
  ClpSimplex solver;
  solver.setLogLevel(0);
  solver.resize(0, static_cast<int>(cost_.size()));
  for (int j = 0; j < static_cast<int>(cost_.size()); ++j) {
    solver.setObjectiveCoefficient(j, cost_[j]);
    solver.setColumnBounds(j, lower_[j], upper_[j]);
  }
  const std::vector<double> unlimited(right_.size(), COIN_DBL_MAX);
  solver.addRows(static_cast<int>(right_.size()), right_.data(), unlimited.data(), row_begin_.data(),
                 column_.data(), factor_.data());
  solver.setMaximumSeconds(seconds_limit);
  solver.dual();
  const double* x = solver.getColSolution();
  solution_.assign(x, x + cost_.size());
  return lagrangian(solver.getRowPrice());
}

}  // namespace espalier
