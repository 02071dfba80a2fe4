#pragma once

#include <cstdint>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace espalier::starpu {

/// What StarPU 1.3's policy heteroprio has to be told, as its handbook asks of the application: a bucket for
/// tasks of like acceleration, the GPUs' order (most accelerated first) and the cores' (least first). From
/// 1.4 on StarPU finds these by itself.
class HeteroprioBuckets {
 public:
  /// By cost on the fastest GPU and the fastest core; one bucket for each cost class, neighbours together
  /// where there are more than StarPU takes.
  explicit HeteroprioBuckets(const SchedulingProblem& problem);
  int bucket_of(CostClass c) const { return bucket_of_[c]; }
  /// Tells the policy; called while it starts.
  void tell(unsigned context) const;

 private:
  struct Bucket {
    double cpu = 0, gpu = 0;  ///< seconds of all its classes together; infinity: cannot run there
  };
  std::vector<int> bucket_of_;
  std::vector<Bucket> buckets_;
  bool cpus_ = false, gpus_ = false;
};

}  // namespace espalier::starpu
