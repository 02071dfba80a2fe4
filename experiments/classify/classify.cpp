#include "experiments/classify/classify.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "experiments/run/run_network.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/starpu/stream_session.hpp"
#include "runtime/task_graph/lower.hpp"
#include "runtime/task_graph/micro_batches.hpp"

namespace espalier {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 30;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Each worker has one micro-batch under way and one at hand.
std::shared_ptr<const NetworkProgram> make_program(const Classifier& classifier, const LayerTable& layers,
                                                   std::int64_t micro_batch, std::size_t micro_batches,
                                                   unsigned workers, double task_seconds) {
  const auto places =
      static_cast<std::int64_t>(std::min<std::size_t>(std::size_t{2} * workers, micro_batches));
  const MicroBatches cut = cut_batch(classifier.graph, layers, {}, micro_batch * places, micro_batch);
  LoweringOptions options;
  options.workers = workers;
  options.slots = static_cast<std::uint32_t>(cut.units.size());
  options.target_seconds = task_seconds > 0 ? task_seconds : choose_task_seconds(cut.units.size(), workers);
  return std::make_shared<const NetworkProgram>(lower(cut, layers, options));
}

/// Minus infinity is the logarithm of 0.
bool are_numbers(std::span<const float> scores) {
  return std::all_of(scores.begin(), scores.end(),
                     [](float v) { return std::isfinite(v) || v == -INFINITY; }) &&
         std::any_of(scores.begin(), scores.end(), [](float v) { return std::isfinite(v); });
}

/// Reads images into the inputs of micro-batches and hands their scores out.
class ImageStream {
 public:
  ImageStream(const Classifier& classifier, const std::vector<std::filesystem::path>& images,
              const ClassifyRequest& request, const ClassifyCallbacks& callbacks, std::int64_t micro_batch,
              std::size_t places)
      : classifier_(classifier),
        images_(images),
        request_(request),
        callbacks_(callbacks),
        micro_batch_(static_cast<std::size_t>(micro_batch)),
        places_(places),
        problems_(places * micro_batch_) {}

  void fill(std::uint64_t index, std::span<std::byte> input) {
    const auto image_floats = static_cast<std::size_t>(classifier_.height * classifier_.width * 3);
    auto* out = reinterpret_cast<float*>(input.data());
    for (std::size_t k = 0; k < micro_batch_; ++k, out += image_floats) {
      const std::size_t i = index * micro_batch_ + k;
      if (i >= images_.size() || !read_image(i, problem(index, k), out))
        std::memset(out, 0, image_floats * sizeof(float));
    }
  }

  void consume(std::uint64_t index, std::span<const std::byte> output) {
    const auto* scores = reinterpret_cast<const float*>(output.data());
    const auto classes = static_cast<std::size_t>(classifier_.classes);
    for (std::size_t k = 0; k < micro_batch_ && index * micro_batch_ + k < images_.size(); ++k) {
      const std::string path = images_[index * micro_batch_ + k].string();
      const std::span<const float> of_image(scores + k * classes, classes);
      std::string& reason = problem(index, k);
      if (reason.empty() && !are_numbers(of_image))
        reason = fmt::format("{}: the network's scores are not all numbers (NaN or infinite)", path);
      if (reason.empty()) {
        callbacks_.result(path, of_image);
        ++classified;
      } else {
        callbacks_.problem(path, reason);
        ++skipped;
      }
    }
    if (callbacks_.progress) callbacks_.progress(classified + skipped);
  }

  std::size_t classified = 0, skipped = 0;

 private:
  std::string& problem(std::uint64_t index, std::size_t k) {
    return problems_[(index % places_) * micro_batch_ + k];
  }

  bool read_image(std::size_t i, std::string& problem, float* out) const {
    problem.clear();
    try {
      const std::string path = images_[i].string();
      const Image image = decode_image(read_file(path, kLargestFile), path, request_.decoding);
      try {
        preprocess(image, request_.preprocessing, out);
      } catch (const InputError& e) {
        throw InputError(fmt::format("{}: {}", path, e.what()));
      }
      return true;
    } catch (const InputError& e) {
      problem = e.what();
    } catch (const std::bad_alloc&) {
      problem = fmt::format("{}: not enough memory to decode it", images_[i].string());
    }
    return false;
  }

  const Classifier& classifier_;
  const std::vector<std::filesystem::path>& images_;
  const ClassifyRequest& request_;
  const ClassifyCallbacks& callbacks_;
  std::size_t micro_batch_, places_;
  std::vector<std::string> problems_;  ///< by place and image; empty: none
};

}  // namespace

ClassifySummary classify_images(const Classifier& classifier, const LayerTable& layers,
                                const std::vector<std::filesystem::path>& images,
                                const ClassifyRequest& request, const ClassifyCallbacks& callbacks) {
  ClassifySummary summary;
  if (images.empty()) return summary;
  auto start = std::chrono::steady_clock::now();
  starpu::Machine machine(request.machine);
  summary.workers = machine.workers();
  summary.limitation = machine.limitation();
  summary.micro_batch =
      request.micro_batch > 0
          ? std::min<std::int64_t>(request.micro_batch, static_cast<std::int64_t>(images.size()))
          : choose_micro_batch(static_cast<std::int64_t>(images.size()), machine.workers(),
                               weight_bytes(classifier.graph));
  const auto batches = [&] {
    return (images.size() + static_cast<std::size_t>(summary.micro_batch) - 1) /
           static_cast<std::size_t>(summary.micro_batch);
  };
  auto program = make_program(classifier, layers, summary.micro_batch, batches(), machine.workers(),
                              request.task_seconds);
  summary.micro_batch = program->variants[0].samples;  // all in one where samples cannot be told apart

  ImageStream stream(classifier, images, request, callbacks, summary.micro_batch, program->units.size());
  starpu::SessionOptions options;
  options.kernels = request.kernels;
  options.stop = request.stop;
  starpu::StreamSession session(
      machine, std::move(program), layers, options,
      [&](std::uint64_t i, std::span<std::byte> in) { stream.fill(i, in); },
      [&](std::uint64_t i, std::span<const std::byte> out) { stream.consume(i, out); });
  summary.preparation_seconds = seconds_since(start);

  start = std::chrono::steady_clock::now();
  const auto stopped = [&] { return request.stop != nullptr && request.stop->load(); };
  const std::size_t n = batches();
  for (std::size_t i = 0; i < n && !stopped(); ++i) session.push();
  session.drain();
  summary.seconds = seconds_since(start);
  summary.classified = stream.classified;
  summary.skipped = stream.skipped;
  summary.interrupted = stopped() && stream.classified + stream.skipped < images.size();
  summary.statistics = session.statistics();
  return summary;
}

}  // namespace espalier
