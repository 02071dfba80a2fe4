#pragma once

#include <algorithm>
#include <chrono>

namespace espalier {

/// A span of wall time from now, for schedulers that search under a time limit.
class Deadline {
 public:
  explicit Deadline(double seconds) : begin_(Clock::now()), seconds_(seconds) {}
  double spent() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double left() const { return std::max(0.0, seconds_ - spent()); }
  bool passed() const { return spent() >= seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_;
  double seconds_;
};

}  // namespace espalier
