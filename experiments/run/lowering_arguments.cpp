#include "experiments/run/lowering_arguments.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

std::int64_t positive(const std::string& text, const std::string& what) {
  std::size_t used = 0;
  std::int64_t value = 0;
  try {
    value = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || value < 1)
    throw InputError(fmt::format("{} {}: a whole number of at least 1 is needed", what, text));
  return value;
}

}  // namespace

void LoweringArguments::add_to(CLI::App& command) {
  command.add_option(
      "--weights", weights,
      "safetensors or PyTorch checkpoint of a named network; default: random ones of the seed");
  command.add_option("--micro-batch", micro_batch, "samples of a task, or auto")->capture_default_str();
  command.add_option("--cores", cores, "workers; default: every core")->check(CLI::PositiveNumber);
  command.add_option("--dim", dims, "NAME=EXTENT of a symbolic dimension");
  command.add_option("--task-ms", task_ms, "how long a task should take, milliseconds; 0: chosen")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
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
