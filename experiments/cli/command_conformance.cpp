#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/cli/progress_bar.hpp"
#include "experiments/cli/starpu_policy.hpp"
#include "experiments/conformance/starpu_executor.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

using conformance::CaseResult;
using conformance::Outcome;

struct Options {
  std::string folder = conformance::kDebianFolder, only;
  std::string scheduler = fmt::format("starpu:{}", starpu::kDefaultPolicy);
  unsigned cores = 0;
  bool json = false;
};

std::vector<std::filesystem::path> chosen_cases(const Options& o) {
  if (o.folder == conformance::kDebianFolder && !std::filesystem::exists(o.folder))
    throw InputError(
        fmt::format("{} is absent: install libonnx-testdata, or name a folder of cases", o.folder));
  std::vector<std::filesystem::path> cases = conformance::find_cases(o.folder);
  if (cases.empty())
    throw InputError(fmt::format(
        "{}: no case in it; a case is a folder with model.onnx and test_data_set_0/input_0.pb, output_0.pb",
        o.folder));
  std::erase_if(cases, [&](const std::filesystem::path& p) {
    return p.filename().string().find(o.only) == std::string::npos;
  });
  if (cases.empty()) throw InputError(fmt::format("{}: no case has \"{}\" in its name", o.folder, o.only));
  return cases;
}

void print_json(const std::vector<CaseResult>& results, const Options& o, const starpu::Machine& machine) {
  nlohmann::ordered_json json{{"folder", o.folder},
                              {"scheduler", "starpu:" + machine.policy()},
                              {"workers", machine.workers()},
                              {"passed", count(results, Outcome::passed)},
                              {"failed", count(results, Outcome::failed)},
                              {"refused", count(results, Outcome::refused)}};
  auto& list = json["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& r : results)
    list.push_back({{"suite", r.suite},
                    {"name", r.name},
                    {"outcome", conformance::outcome_name(r.outcome)},
                    {"reason", r.reason}});
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int execute(const Options& o) {
  const auto cases = chosen_cases(o);
  starpu::Machine machine({starpu_policy(o.scheduler), o.cores});
  const conformance::Executor execute_graph = conformance::starpu_executor(machine, all_layers());
  catch_interrupts();
  std::vector<CaseResult> results;
  ProgressBar bar("cases", cases.size());
  for (const auto& folder : cases) {
    if (interrupt_flag()) break;
    results.push_back(conformance::run_case(folder, all_layers(), execute_graph));
    bar.update(results.size());
  }
  bar.clear();
  if (o.json)
    print_json(results, o, machine);
  else
    fmt::print("{}", conformance::report(results));
  if (interrupt_flag()) return interrupt_exit_code();
  return count(results, Outcome::failed) > 0 ? kOurFault : kDone;
}

}  // namespace

void add_conformance_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "conformance", "Run ONNX's operator cases through StarPU tasks: passed, failed or refused, and why");
  auto o = std::make_shared<Options>();
  command
      ->add_option("DIR", o->folder,
                   "a folder of cases, or one case: model.onnx with test_data_set_*/input_*.pb, output_*.pb")
      ->capture_default_str();
  command->add_option("--only", o->only, "the cases with this in their name")->type_name("TEXT");
  command->add_option("--scheduler", o->scheduler, "one of StarPU's policies")
      ->capture_default_str()
      ->type_name("starpu:NAME");
  command->add_option("--cores", o->cores, "workers; 0: every core")
      ->capture_default_str()
      ->transform(whole_number(0, kMostCores));
  command->add_flag("--json", o->json, "print JSON");
  command->footer(
      "Examples:\n"
      "  espalier conformance\n"
      "  espalier conformance --only conv --json\n"
      "Exit codes: 0 nothing failed (what is not supported is refused), 1 a case failed.");
  command->callback([o, &exit_code] { exit_code = execute(*o); });
}

}  // namespace espalier
