#include <cstring>

#include "runtime/starpu/plug_in.hpp"
#include "schedulers/greedy/greedy.hpp"

/// The shared library espalier_starpu_policies: for any StarPU program from 1.4 on,
///   STARPU_SCHED_LIB=libespalier_starpu_policies.so STARPU_SCHED=espalier_dm program
namespace {

using espalier::starpu::plug_in_policy;

starpu_sched_policy** policies() {
  static starpu_sched_policy* list[] = {
      plug_in_policy(0, {"espalier_eager", espalier::make_eager}),
      plug_in_policy(1, {"espalier_random", espalier::make_random}),
      plug_in_policy(2, {"espalier_lws", espalier::make_lws}),
      plug_in_policy(3, {"espalier_dm", espalier::make_dm}),
      nullptr,
  };
  return list;
}

constexpr const char* kNames[] = {"espalier_eager", "espalier_random", "espalier_lws", "espalier_dm"};

}  // namespace

extern "C" {

__attribute__((visibility("default"))) starpu_sched_policy* starpu_get_sched_lib_policy(const char* name) {
  for (int i = 0; i < 4; ++i)
    if (name != nullptr && std::strcmp(name, kNames[i]) == 0) return policies()[i];
  return nullptr;
}

__attribute__((visibility("default"))) starpu_sched_policy** starpu_get_sched_lib_policies() {
  return policies();
}

}  // extern "C"
