#include <fmt/format.h>
#include <memory>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/fit_costs/fit_report.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/perfmodel/fitted/fitted_model.hpp"

namespace espalier {
namespace {

struct FitCostsOptions {
  std::vector<std::string> data, evaluate;
  std::string out;
  int folds = 10, worst = 3;
  bool json = false;
};

void run_fit_costs(const FitCostsOptions& o) {
  if (o.folds == 1)
    throw InputError(fmt::format("--folds {}: 0 (each problem in turn) or at least 2 are accepted", o.folds));
  const fitted::Measurements data = fitted::read_measurements(o.data);
  const FitReport report = o.evaluate.empty()
                               ? cross_validation_report(data, o.folds)
                               : evaluation_report(data, fitted::read_measurements(o.evaluate));
  if (!o.out.empty())
    write_file(o.out, fitted::to_json(o.evaluate.empty() ? fitted::train_model(data, report.kernels, o.folds)
                                                         : fitted::train_model(data, o.folds)));
  fmt::print("{}", o.json ? report_to_json(report, o.worst) : report_to_text(report, o.worst));
  if (!o.out.empty() && !o.json) fmt::print("\nmodel in {}\n", o.out);
}

}  // namespace

void add_fit_costs_command(CLI::App& app, int&) {
  auto o = std::make_shared<FitCostsOptions>();
  CLI::App* command = app.add_subcommand(
      "fit-costs", "Fit costs of devices to measured times, and say how far they can be trusted");
  command->add_option("data", o->data, "CSV files of measured times")->required();
  command->add_option("--out", o->out,
                      "write the fitted model here (JSON), for --costs of simulate, compare and plan");
  command->add_option("--evaluate", o->evaluate, "test on these files instead of cross-validating");
  command
      ->add_option("--folds", o->folds, "parts of the cross-validation; 0: each problem is held out in turn")
      ->capture_default_str()
      ->transform(whole_number(0, 1'000'000));
  command->add_option("--worst", o->worst, "predictions listed of each kernel")
      ->capture_default_str()
      ->transform(whole_number(0, 1'000'000));
  command->add_flag("--json", o->json, "print JSON");
  command->footer(
      "The header says what a file holds: convolutions, matrix products, recurrent layers (columns of the\n"
      "benchmark DeepBench) or all-reduces (NCCL's all_reduce_perf).\n"
      "Examples:\n  espalier fit-costs conv.csv gemm.csv --evaluate new_gpu.csv\n"
      "  espalier fit-costs conv.csv gemm.csv rnn.csv new_gpu.csv --out model.json\n"
      "  espalier simulate resnet50 --mode training --batch 32 --platform new.yaml --scheduler best --costs "
      "model.json");
  command->callback([o] { run_fit_costs(*o); });
}

}  // namespace espalier
