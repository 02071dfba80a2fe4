#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/sources/generators.hpp"

namespace espalier {
namespace {

struct Generator {
  std::string_view name;
  LoadedTaskGraph (*make)(source::GeneratorOptions&);
};

constexpr Generator kGenerators[] = {
    {"cholesky", source::cholesky},
    {"lu", source::lu},
    {"qr", source::qr},
    {"layered", source::layered},
    {"fork-join", source::fork_join},
    {"stencil", source::stencil},
    {"random", source::random_dag},
};

}  // namespace

bool is_generator(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  for (const Generator& g : kGenerators)
    if (g.name == name) return true;
  return false;
}

LoadedTaskGraph generate(std::string_view text) {
  source::GeneratorOptions options(text);
  std::string known;
  for (const Generator& g : kGenerators) {
    if (g.name == options.name()) {
      LoadedTaskGraph loaded = g.make(options);
      loaded.graph.name = text;
      return loaded;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", g.name);
  }
  throw InputError(fmt::format("{}: no generator has this name; known are {}", text, known));
}

}  // namespace espalier
