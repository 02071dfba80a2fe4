#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

struct starpu_sched_policy;

/// Online policies of ours for StarPU programs that know nothing of Espalier: StarPU 1.4 loads a shared
/// library named by STARPU_SCHED_LIB and asks it for policies (StarPU Handbook, "Scheduling Policy In A
/// Library").
namespace espalier::starpu {

struct PlugInPolicy {
  const char* name;  ///< for STARPU_SCHED; lives as long as the program
  std::unique_ptr<OnlinePolicy> (*make)();
};

/// Of the plug-in's policies.
constexpr int kMostPlugInPolicies = 4;

/// The policy in StarPU's form; `index` below kMostPlugInPolicies tells it from the others. It is asked with
/// a problem that is filled while the program runs: a number of places for ready tasks, each with the time
/// that StarPU's performance models expect for the task on each kind of worker (1 us where they know
/// nothing). Thus it serves policies that read no dependencies, data or priorities. Ready tasks beyond the
/// places run first come, first served.
starpu_sched_policy* plug_in_policy(int index, const PlugInPolicy& policy);

}  // namespace espalier::starpu
