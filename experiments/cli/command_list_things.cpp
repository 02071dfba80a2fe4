#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/workloads/listings.hpp"

namespace espalier {
namespace {

std::string text_of(const Listing::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell))
    return *number > 0 ? std::to_string(*number) : "-";
  std::string joined;
  for (const std::string& part : std::get<std::vector<std::string>>(cell))
    joined += fmt::format("{}{}", joined.empty() ? "" : ", ", part);
  return joined;
}

void print_text(const Listing& listing) {
  std::vector<std::size_t> widths;
  for (const std::string& column : listing.columns) widths.push_back(column.size());
  for (const auto& row : listing.rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_of(row[i]).size());
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t i = 0; i < widths.size(); ++i) text += fmt::format("{:<{}}  ", cell(i), widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  };
  line([&](std::size_t i) { return listing.columns[i]; });
  for (const auto& row : listing.rows) line([&](std::size_t i) { return text_of(row[i]); });
}

void print_json(const Listing& listing) {
  nlohmann::ordered_json things = nlohmann::ordered_json::array();
  for (const auto& row : listing.rows) {
    nlohmann::ordered_json thing;
    for (std::size_t i = 0; i < row.size(); ++i)
      std::visit([&](const auto& value) { thing[listing.columns[i]] = value; }, row[i]);
    things.push_back(std::move(thing));
  }
  fmt::print("{}\n", things.dump(2));
}

}  // namespace

void add_list_command(CLI::App& app, int&) {
  struct Options {
    std::string kind;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  std::string kinds;
  for (const ListedKind& kind : all_listed_kinds())
    kinds += fmt::format("{}{}", kinds.empty() ? "" : "|", kind.name);
  CLI::App* command = app.add_subcommand("list", "What there is: " + kinds);
  command->add_option("KIND", options->kind, kinds)->required();
  command->add_flag("--json", options->json, "print JSON");
  command->footer("Examples:\n  espalier list networks\n  espalier list schedulers --json");
  command->callback([options] {
    const Listing listing = list_things(options->kind);
    options->json ? print_json(listing) : print_text(listing);
  });
}

}  // namespace espalier
