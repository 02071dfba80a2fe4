#include <fmt/format.h>

#include "experiments/report/page_data.hpp"
#include "experiments/report/page_text.hpp"
#include "experiments/report/report.hpp"

namespace espalier {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string title_of(const Comparison& comparison) {
  if (comparison.cases.size() != 1) return fmt::format("Espalier: {} comparisons", comparison.cases.size());
  const Reproduction& how = comparison.cases[0].how;
  return fmt::format("Espalier: {} on {}", how.graph, how.platform);
}

/// Replaces the markers @NAME@ of the page's own text; what is put in is not looked at again.
std::string filled(std::string_view page, const std::pair<std::string_view, std::string> (&values)[5]) {
  std::string out;
  while (!page.empty()) {
    std::size_t first = std::string_view::npos;
    const std::pair<std::string_view, std::string>* which = nullptr;
    for (const auto& v : values)
      if (const std::size_t at = page.find(v.first); at < first) {
        first = at;
        which = &v;
      }
    out += page.substr(0, first);
    if (which == nullptr) break;
    out += which->second;
    page.remove_prefix(first + which->first.size());
  }
  return out;
}

}  // namespace

std::string comparison_to_html(const Comparison& comparison) {
  const PageText page = page_text();
  return filled(page.html, {{"@TITLE@", escaped(title_of(comparison))},
                            {"@STYLE@", std::string(page.css)},
                            {"@TEXT@", escaped(comparison_to_text(comparison))},
                            {"@DATA@", page_data(comparison)},
                            {"@SCRIPT@", std::string(page.js)}});
}

}  // namespace espalier
