#pragma once

#include <atomic>
#include <functional>

#include "experiments/classify/classifier.hpp"
#include "experiments/images/preprocess.hpp"
#include "experiments/images/walk.hpp"
#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/statistics.hpp"

namespace espalier {

struct ClassifyRequest {
  Preprocessing preprocessing;  ///< resolved
  DecodeOptions decoding;
  starpu::MachineOptions machine;
  KernelOptions kernels;
  std::int64_t micro_batch = 0;  ///< images a task works on; 0: chosen
  double task_seconds = 0;       ///< aim of coarsening; 0: chosen
  const std::atomic<bool>* stop = nullptr;
};

struct ClassifySummary {
  std::size_t classified = 0, skipped = 0;
  bool interrupted = false;
  double seconds = 0;              ///< from the first image to the last result
  double preparation_seconds = 0;  ///< before: binding, packing weights, starting the workers
  unsigned workers = 0;
  std::int64_t micro_batch = 1;
  starpu::RunStatistics statistics;
  std::string limitation;
};

/// What becomes of each image, in the order of the list; called on the caller's thread.
struct ClassifyCallbacks {
  std::function<void(const std::string& path, std::span<const float> scores)> result;
  std::function<void(const std::string& path, const std::string& reason)> problem;
  std::function<void(std::size_t done)> progress;
};

/// Streams the images through the classifier on all cores: reading, decoding and preprocessing are tasks too
/// and overlap with the network's; memory does not depend on the number of images. InputError when a batch
/// does not fit in memory or a node has no implementation; an image that cannot be read is reported and
/// skipped.
ClassifySummary classify_images(const Classifier& classifier, const LayerTable& layers,
                                const std::vector<std::filesystem::path>& images,
                                const ClassifyRequest& request, const ClassifyCallbacks& callbacks);

}  // namespace espalier
