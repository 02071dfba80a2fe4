#include "experiments/cli/command_list.hpp"

namespace espalier {

void add_calibrate_command(CLI::App& app, int& exit_code);
void add_classify_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_conformance_command(CLI::App& app, int& exit_code);
void add_doctor_command(CLI::App& app, int& exit_code);
void add_fit_costs_command(CLI::App& app, int& exit_code);
void add_inspect_command(CLI::App& app, int& exit_code);
void add_list_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
void add_run_command(CLI::App& app, int& exit_code);
void add_simulate_command(CLI::App& app, int& exit_code);
void add_validate_command(CLI::App& app, int& exit_code);

void add_commands(CLI::App& app, int& exit_code) {
  add_calibrate_command(app, exit_code);
  add_classify_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_conformance_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_fit_costs_command(app, exit_code);
  add_inspect_command(app, exit_code);
  add_list_command(app, exit_code);
  add_plan_command(app, exit_code);
  add_run_command(app, exit_code);
  add_simulate_command(app, exit_code);
  add_validate_command(app, exit_code);
}

}  // namespace espalier
