#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <sys/mman.h>

#include "graphs/base/error.hpp"
#include "graphs/networks/network_list.hpp"

namespace espalier {
namespace {

Tensor as_f32(const Tensor& t, const std::string& source, const std::string& name) {
  if (t.dtype() == DType::f32) return t;
  if (!is_float(t.dtype()))
    throw InputError(
        fmt::format("{}: parameter {} is of {}; a float is needed", source, name, name_of(t.dtype())));
  Tensor out(DType::f32, t.shape());
  const std::vector<double> values = t.to_double();
  std::copy(values.begin(), values.end(), out.as_mutable<float>().begin());
  return out;
}

class FileParameters final : public ParameterSource {
 public:
  explicit FileParameters(Weights weights) : weights_(std::move(weights)) {}

  Tensor get(const std::string& parameter, const Shape& shape, double) override {
    const auto it = weights_.tensors.find(parameter);
    if (it == weights_.tensors.end()) refuse_missing(parameter, shape);
    if (it->second.shape() != shape)
      throw InputError(fmt::format("{}: parameter {} has shape {}, the network needs {}", weights_.source,
                                   parameter, it->second.shape().to_string(), shape.to_string()));
    used_.insert(parameter);
    return as_f32(it->second, weights_.source, parameter);
  }
  std::int64_t classes(const std::string& final_weight) override {
    const auto it = weights_.tensors.find(final_weight);
    if (it == weights_.tensors.end() || it->second.shape().rank() == 0) return 0;
    return it->second.shape()[0];
  }
  bool has(const std::string& parameter) const override { return weights_.tensors.count(parameter) != 0; }
  void ignore(const std::string& prefix) override { ignored_.push_back(prefix); }
  std::vector<std::string> unused() const override {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : weights_.tensors) {
      const bool known =
          used_.count(name) != 0 || name.ends_with("num_batches_tracked") ||
          std::any_of(ignored_.begin(), ignored_.end(),
                      [&n = name](const std::string& prefix) { return n.starts_with(prefix); });
      if (!known) names.push_back(name);
    }
    return names;
  }

 private:
  [[noreturn]] void refuse_missing(const std::string& parameter, const Shape& shape) const {
    std::string some;
    int shown = 0;
    for (const auto& [name, tensor] : weights_.tensors) {
      if (used_.count(name) != 0 || name.ends_with("num_batches_tracked")) continue;
      if (shown++ == 5) break;
      some += fmt::format("{}{} {}", some.empty() ? "" : ", ", name, tensor.shape().to_string());
    }
    throw InputError(fmt::format("{}: parameter {} {} is missing; the file has {}{}", weights_.source,
                                 parameter, shape.to_string(), some.empty() ? "nothing else" : some,
                                 shown > 5 ? ", ..." : ""));
  }
  Weights weights_;
  std::set<std::string> used_;
  std::vector<std::string> ignored_;
};

/// Vigna's splitmix64.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class RandomParameters final : public ParameterSource {
 public:
  explicit RandomParameters(std::uint64_t seed) : seed_(seed) {}

  Tensor get(const std::string& parameter, const Shape& shape, double gain) override {
    Tensor t(DType::f32, shape);
    std::uint64_t state = seed_;
    for (char c : parameter) state = (state ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    const auto ends = [&](std::string_view suffix) { return parameter.ends_with(suffix); };
    if (shape.rank() >= 2) {
      // He et al. 2015 before a rectifier; without one (dense, recurrent) half the variance
      const double fan_in = static_cast<double>(std::max<std::int64_t>(1, shape.elements(1, shape.rank())));
      fill(t, state, 0, gain * std::sqrt((shape.rank() > 2 ? 2.0 : 1.0) / fan_in));
    } else if (ends("running_var") || ends("weight")) {
      fill(t, state, 1, 0.05);
      if (ends("weight"))
        for (float& v : t.as_mutable<float>()) v *= static_cast<float>(gain);
    } else {
      fill(t, state, 0, 0.05);
    }
    return t;
  }
  std::int64_t classes(const std::string&) override { return 0; }

 private:
  /// Sums of four uniform 16-bit numbers: nearly normal, bounded by 3.5 deviations, the same everywhere.
  static void fill(Tensor& t, std::uint64_t state, double mean, double deviation) {
    const double scale = deviation * std::sqrt(3.0) / 65536.0;
    for (float& v : t.as_mutable<float>()) {
      const std::uint64_t r = next(state);
      const auto sum =
          static_cast<double>((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48));
      v = static_cast<float>(mean + (sum - 131070.0) * scale);
    }
  }
  std::uint64_t seed_;
};

class PlaceholderParameters final : public ParameterSource {
 public:
  Tensor get(const std::string&, const Shape& shape, double) override {
    const std::size_t size = static_cast<std::size_t>(shape.elements()) * sizeof(float);
    // read-only pages that were never written all share the system's page of zeros
    void* memory = ::mmap(nullptr, std::max<std::size_t>(size, 1), PROT_READ,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return Tensor(DType::f32, shape);
    std::shared_ptr<const void> owner(
        memory, [size](const void* p) { ::munmap(const_cast<void*>(p), std::max<std::size_t>(size, 1)); });
    return Tensor(DType::f32, shape, memory, std::move(owner));
  }
  std::int64_t classes(const std::string&) override { return 0; }
};

}  // namespace

std::unique_ptr<ParameterSource> parameters_from(Weights weights) {
  return std::make_unique<FileParameters>(std::move(weights));
}

std::unique_ptr<ParameterSource> random_parameters(std::uint64_t seed) {
  return std::make_unique<RandomParameters>(seed);
}

std::unique_ptr<ParameterSource> placeholder_parameters() {
  return std::make_unique<PlaceholderParameters>();
}

}  // namespace espalier
