#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace espalier {

/// A line on the terminal that is drawn over, at most ten times a second; nothing when standard error is no
/// terminal.
class ProgressBar {
 public:
  ProgressBar(std::string what, std::size_t total);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void update(std::size_t done);
  /// Takes the line away, so that other output can be printed.
  void clear();

 private:
  std::string what_;
  std::size_t total_;
  bool enabled_, drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace espalier
