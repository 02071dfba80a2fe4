#include <cstdio>

#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "runtime/starpu/machine.hpp"
#include "schedulers/scheduler_list.hpp"

/// Uses a table, a scheduler list and StarPU; 0 when all are there.
int main() {
  const bool tables = espalier::all_layers().find("Conv") != nullptr && !espalier::all_schedulers().empty();
  const espalier::starpu::Machine machine;
  std::printf("%zu schedulers, %u workers\n", espalier::all_schedulers().size(), machine.workers());
  return tables && machine.workers() > 0 ? 0 : 1;
}
