#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <system_error>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/output_file.hpp"
#include "graphs/base/error.hpp"

namespace {

/// CLI11 only says that a command is required.
void require_known_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", command->get_name());
  }
  throw espalier::InputError(fmt::format("{} is no command; commands are {}", argv[1], known));
}

/// "--batch: 0: a whole number ..." as all messages have it.
std::string refusal(const CLI::ValidationError& error) {
  std::string text = error.what();
  if (const std::size_t colon = text.find(": "); colon != std::string::npos) text.erase(colon, 1);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Expresses deep networks as task graphs and maps them over CPUs, GPUs and nodes.", "espalier");
  app.require_subcommand(1);
  app.set_version_flag("--version", "espalier 0.1.0");
  int exit_code = espalier::kDone;
  espalier::add_commands(app, exit_code);
  try {
    require_known_command(app, argc, argv);
    app.parse(argc, argv);
    espalier::flush_or_fail(stdout, "standard output");
    return exit_code;
  } catch (const CLI::ValidationError& e) {
    fmt::print(stderr, "espalier: {}\n", refusal(e));
    return espalier::kWrongInput;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? espalier::kDone : espalier::kWrongInput;
  } catch (const espalier::InputError& e) {
    fmt::print(stderr, "espalier: {}\n", e.what());
    return espalier::kWrongInput;
  } catch (const espalier::DeviceError& e) {
    fmt::print(stderr, "espalier: {}\n", e.what());
    return espalier::kOurFault;
  } catch (const std::system_error& e) {  // fmt's, of a full disk
    fmt::print(stderr, "espalier: {}\n", e.what());
    return espalier::kOurFault;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "espalier: not enough memory\n");
    return espalier::kOurFault;
  } catch (const std::exception& e) {
    fmt::print(stderr, "espalier: internal error: {}\n", e.what());
    return espalier::kOurFault;
  }
}
