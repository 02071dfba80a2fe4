#include "experiments/run/lowering_arguments.hpp"

#include <fmt/format.h>

#include "experiments/cli/number.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

std::int64_t positive(const std::string& text, const std::string& what) {
  std::string decimal = text;
  if (const std::string refusal = whole_number(1, kMostBatch)(decimal); !refusal.empty())
    throw InputError(fmt::format("{} {}", what, refusal));
  return std::stoll(decimal);
}

}  // namespace

void LoweringArguments::add_to(CLI::App& command) {
  command.add_option(
      "--weights", weights,
      "safetensors or PyTorch checkpoint of a named network; default: random ones of the seed");
  command.add_option("--micro-batch", micro_batch, "samples of a task, or auto")->capture_default_str();
  command.add_option("--cores", cores, "workers; default: every core")
      ->transform(whole_number(1, kMostCores));
  command.add_option("--dim", dims, "NAME=EXTENT of a symbolic dimension");
  command.add_option("--task-ms", task_ms, "how long a task should take, milliseconds; 0: chosen")
      ->capture_default_str()
      ->transform(number(0, 1e6));
  command.add_flag("--bf16", bf16, "allow bfloat16 arithmetic");
}

void LoweringArguments::apply(RunRequest& request) const {
  request.machine.cores = cores;
  request.task_seconds = task_ms * 1e-3;
  request.kernels.allow_bf16 = bf16;
  if (micro_batch != "auto") request.micro_batch = positive(micro_batch, "--micro-batch");
  for (const std::string& text : dims) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw InputError(fmt::format("--dim {}: NAME=EXTENT is needed", text));
    request.dims[text.substr(0, equals)] = positive(text.substr(equals + 1), "--dim " + text);
  }
}

}  // namespace espalier
