#include "experiments/cli/progress_bar.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace espalier {

ProgressBar::ProgressBar(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      enabled_(::isatty(STDERR_FILENO) == 1 && total > 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void ProgressBar::update(std::size_t done) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  constexpr std::size_t kWidth = 24;
  const std::size_t full = kWidth * done / total_;
  fmt::print(stderr, "\r\x1b[K[{}{}] {}/{} {}, {:.1f}/s, {:.0f} s left", std::string(full, '#'),
             std::string(kWidth - full, '.'), done, total_, what_, rate,
             rate > 0 ? static_cast<double>(total_ - done) / rate : 0);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace espalier
