#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/calibrate/calibration_limits.hpp"
#include "graphs/passes/bind.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/statistics.hpp"
#include "runtime/task_graph/network_program.hpp"
#include "runtime/trace/trace.hpp"
#include "schedulers/common/bounds.hpp"

namespace espalier {

struct RunRequest {
  std::int64_t batch = 0;        ///< 0: that of the given inputs, else 1
  std::int64_t micro_batch = 0;  ///< 0: chosen, see choose_micro_batch
  int iterations = 10, warmup = 2;
  starpu::MachineOptions machine;  ///< its policy is used where neither scheduler nor plan is set
  std::string scheduler;           ///< one of ours
  std::string plan_file;           ///< a plan made before; wins over scheduler
  std::string hybrid;              ///< of a plan: "allocation", "order", "both"; empty: strict
  bool predict = false;            ///< also for StarPU's policies that the model engine has
  bool recalibrate = false;        ///< measure costs even if the cache has them
  CalibrationLimits calibration;
  double time_limit = 1;                 ///< seconds that a searching scheduler may take
  std::map<std::string, Tensor> inputs;  ///< by name; what is left out is drawn with the seed
  std::map<std::string, std::int64_t> dims;
  KernelOptions kernels;
  std::uint64_t seed = 0;
  double task_seconds = 0;  ///< aim of coarsening; 0: see choose_task_seconds
  const std::atomic<bool>* stop = nullptr;
};

struct RunReport {
  std::int64_t batch = 1, micro_batch = 1;
  std::uint32_t micro_batches = 1, slots = 1;
  std::vector<double> seconds;  ///< makespan of each measured iteration
  int repeated = 0;             ///< iterations measured beside these and passed over: others used the cores
  int disturbed = 0;            ///< of the counted ones: no better ones came within twice as many
  double median = 0;            ///< of them
  starpu::RunStatistics last;   ///< of the iteration nearest the median
  double lost = 0;              ///< median share of the workers' time outside kernels
  Bounds bounds;                ///< for the measured task times
  Platform platform;            ///< the workers that took part
  Trace trace;                  ///< of the same iteration
  std::shared_ptr<const NetworkProgram> program;
  std::map<std::string, Tensor> outputs;
  unsigned workers = 0;
  std::string policy, limitation;
  std::string uncut_because;  ///< why the batch is not cut into micro-batches as asked for, or empty
  double preparation_seconds = 0;
  std::string scheduler;         ///< "starpu:prio", "heft_topcuoglu2002", with "/both" behind it for hybrids
  std::optional<Plan> plan;      ///< that was carried out
  std::string plan_json;         ///< the same for a file
  double predicted = 0;          ///< makespan on the model engine with measured costs; 0: not predicted
  double predicted_error = 0;    ///< predicted / median - 1
  double scheduler_seconds = 0;  ///< that planning took
  int calibration_runs = 0;      ///< 0: costs came from the cache, or none were needed
};

/// Binds, optimises, cuts, lowers and runs a network on StarPU. InputError names what does not fit: an input
/// that the network lacks, a shape or dtype with both types, a batch that does not fit into memory.
RunReport run_network(const Graph& network, const LayerTable& layers, const RunRequest& request);

/// The size of micro-batch for `batch` samples on `workers` workers: a network with many weights reads them
/// seldom (one sample for each 12 MB, at most 8), every worker still has a micro-batch. Measured, images/s at
/// sizes 1, 2, 4, 8: MobileNetV2 (14 MB) 360, 338, 301, -; EfficientNet-B0 (21 MB) 207, 198, 189, -;
/// ResNet-50 (102 MB) -, -, 42, 46.
std::int64_t choose_micro_batch(std::int64_t batch, unsigned workers, std::int64_t weight_bytes);

/// How long a task should take. With a micro-batch for each worker, tasks are long (4 ms: MobileNetV2 reaches
/// 397 images/s, 360 with 1 ms); where one image is cut into bands for several workers they are short.
double choose_task_seconds(std::size_t micro_batches, unsigned workers);

/// Bytes of the constants.
std::int64_t weight_bytes(const Graph& graph);

/// The binding that makes the network fit the given inputs: extents of named dimensions from their shapes,
/// the batch from the axis that has it. `batch` is set where it was 0. InputError names an unknown input.
Binding binding_for(const Graph& network, const std::map<std::string, Tensor>& inputs,
                    const std::map<std::string, std::int64_t>& dims, std::int64_t& batch);

/// Values in [0, 1) for floating dtypes, 0 or 1 for integers and booleans; equal for equal seeds.
Tensor random_tensor(const TensorType& type, std::uint64_t seed);

}  // namespace espalier
