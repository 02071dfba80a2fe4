#pragma once

#include <memory>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/perfmodel/fitted/fitted_model.hpp"

namespace espalier::fitted {

/// Time of a gradient_all_reduce task (network_tasks) over the GPUs of a platform: what the copies on one GPU
/// take to be added up, then a ring all-reduce over as many GPUs as there are copies. Where all GPUs are of
/// one kind that was measured (v100, a100) and each has 20 GB/s or more to another one, the fitted system
/// with as many devices (source fitted), or the nearest with its latency in proportion to the ring's steps
/// (extrapolated). Else 2 (n-1) (latency + bytes / (n bandwidth)) of the slowest hop over the platform's
/// links, each shared by the hops that cross it (source roofline; Patarasuk & Yuan 2009). CPUs cannot run it
/// where there are two GPUs or more; nullopt where there are fewer.
class AllReduceCosts final : public CostModel {
 public:
  /// `model` may be null: no fitted system. The platform must outlive this.
  AllReduceCosts(std::shared_ptr<const FittedModel> model, const Platform& platform);
  /// Whether a fitted system stands for all GPUs of the platform.
  bool measured() const;
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;

 private:
  /// Of `bytes` over the first n GPUs.
  Estimate collective(double bytes, int n) const;
  std::optional<Estimate> fitted_system(double bytes, int n) const;

  struct Hop {
    double latency = 0, bandwidth = 0;
  };
  Hop slowest_hop(int n) const;  ///< of the ring in the order of the workers
  bool linked(int n) const;      ///< as by NVLink

  std::shared_ptr<const FittedModel> model_;
  const Platform& platform_;
  std::vector<WorkerId> gpus_;
};

/// GPUs of the platform that have a memory of their own.
std::vector<WorkerId> gpus_of(const Platform& platform);

}  // namespace espalier::fitted
