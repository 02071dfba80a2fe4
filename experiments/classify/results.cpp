#include "experiments/classify/results.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

#include "graphs/base/error.hpp"

namespace espalier {

std::vector<Candidate> top_candidates(std::span<const double> probabilities, int k) {
  std::vector<int> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  const auto n = static_cast<std::ptrdiff_t>(
      std::min<std::size_t>(static_cast<std::size_t>(std::max(k, 0)), order.size()));
  std::partial_sort(order.begin(), order.begin() + n, order.end(), [&](int a, int b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  std::vector<Candidate> top;
  for (std::ptrdiff_t i = 0; i < n; ++i) top.push_back({order[i], probabilities[order[i]]});
  return top;
}

std::vector<double> to_probabilities(std::span<const float> outputs, OutputKind kind) {
  std::vector<double> p(outputs.begin(), outputs.end());
  if (kind == OutputKind::probabilities || p.empty()) return p;
  const double largest = kind == OutputKind::logits ? *std::max_element(p.begin(), p.end()) : 0;
  for (double& v : p) v = std::exp(v - largest);
  if (kind == OutputKind::log_probabilities) return p;
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& v : p) v /= sum;
  return p;
}

void ResultCollector::expect(const std::string& path) {
  if (options_.group_by_folder) ++groups_[std::filesystem::path(path).parent_path().string()].expected;
}

void ResultCollector::add(const std::string& path, std::span<const double> probabilities) {
  if (!options_.group_by_folder) return write(path, 1, probabilities);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Group& group = groups_[folder];
  group.sum.resize(probabilities.size());
  std::transform(probabilities.begin(), probabilities.end(), group.sum.begin(), group.sum.begin(),
                 std::plus<>());
  ++group.averaged;
  ++group.seen;
  settle(folder, group);
}

void ResultCollector::skip(const std::string& path, const std::string& reason) {
  writer_.problem(path, reason);
  if (!options_.group_by_folder) return;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  Group& group = groups_[folder];
  ++group.seen;
  settle(folder, group);
}

void ResultCollector::settle(const std::string& folder, Group& group) {
  if (group.seen < group.expected) return;
  if (group.averaged > 0) {
    for (double& v : group.sum) v /= static_cast<double>(group.averaged);
    write(folder.empty() ? "." : folder, group.averaged, group.sum);
  }
  groups_.erase(folder);
}

void ResultCollector::finish() {
  for (auto& [folder, group] : groups_) group.expected = group.seen;
  while (!groups_.empty()) settle(std::string(groups_.begin()->first), groups_.begin()->second);
  writer_.end();
}

void ResultCollector::write(const std::string& subject, std::size_t photographs,
                            std::span<const double> probabilities) {
  const std::vector<Candidate> top = top_candidates(probabilities, std::max(options_.top, 1));
  const bool unknown = top.empty() || !(top[0].probability >= options_.reject);
  writer_.result(subject, photographs, std::span(top).first(std::min<std::size_t>(top.size(), options_.top)),
                 unknown);
}

}  // namespace espalier
