#include <fmt/format.h>
#include <memory>

#include "experiments/cli/command_list.hpp"
#include "experiments/fit_costs/fit_report.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

struct FitCostsOptions {
  std::vector<std::string> data, evaluate;
  int folds = 10, worst = 3;
  bool json = false;
};

void run_fit_costs(const FitCostsOptions& o) {
  if (o.folds < 0 || o.folds == 1)
    throw InputError(fmt::format("--folds {}: 0 (each problem in turn) or at least 2 are accepted", o.folds));
  if (o.worst < 0) throw InputError(fmt::format("--worst {}: 0 or more is accepted", o.worst));
  const fitted::Measurements data = fitted::read_measurements(o.data);
  const FitReport report = o.evaluate.empty()
                               ? cross_validation_report(data, o.folds)
                               : evaluation_report(data, fitted::read_measurements(o.evaluate));
  fmt::print("{}", o.json ? report_to_json(report, o.worst) : report_to_text(report, o.worst));
}

}  // namespace

void add_fit_costs_command(CLI::App& app, int&) {
  auto o = std::make_shared<FitCostsOptions>();
  CLI::App* command = app.add_subcommand(
      "fit-costs", "Fit costs of devices to measured times, and say how far they can be trusted");
  command->add_option("data", o->data, "CSV files of measured times")->required();
  command->add_option("--evaluate", o->evaluate, "test on these files instead of cross-validating");
  command
      ->add_option("--folds", o->folds, "parts of the cross-validation; 0: each problem is held out in turn")
      ->capture_default_str();
  command->add_option("--worst", o->worst, "predictions listed of each kernel")->capture_default_str();
  command->add_flag("--json", o->json, "print JSON");
  command->footer(
      "The header says what a file holds: convolutions, matrix products, recurrent layers (columns of the\n"
      "benchmark DeepBench) or all-reduces (NCCL's all_reduce_perf).\n"
      "Example:\n  espalier fit-costs conv.csv gemm.csv --evaluate new_gpu.csv");
  command->callback([o] { run_fit_costs(*o); });
}

}  // namespace espalier
