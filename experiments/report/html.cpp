#include "experiments/report/report.hpp"

namespace espalier {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string comparison_to_html(const Comparison& comparison) {
  return "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Espalier: comparison of schedulers</title>\n<pre>" +
         escaped(comparison_to_text(comparison)) + "</pre>\n";
}

}  // namespace espalier
