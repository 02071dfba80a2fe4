#pragma once

#include <string>
#include <vector>

#include "experiments/compare/critical_chain.hpp"
#include "experiments/simulate/simulation.hpp"

/// What would help most: the execution again with the time of one layer, or of one link, halved.
namespace espalier {

struct Saving {
  enum class What : std::uint8_t { layer, codelet, link } what;
  std::string name;
  double makespan = 0;       ///< with it halved
  double saved = 0;          ///< share of the makespan; below 0: the order that is kept suits it worse
  double chain_seconds = 0;  ///< its time on the critical chain
};

/// "layer", "codelet" or "link".
constexpr const char* name_of(Saving::What what) {
  return what == Saving::What::layer ? "layer" : what == Saving::What::link ? "link" : "codelet";
}

struct Savings {
  std::vector<Saving> tried;  ///< the most helpful first
  std::size_t candidates = 0;
  std::string how;  ///< "the plan's order kept", "the policy decides anew"
};

/// Candidates are the layers (codelets where the graph has no layers) and links with the most time on the
/// critical chain, then with the most time at all; as many are tried as `operations` simulated tasks allow,
/// at least 4 and at most 40; behind the first 4 also `seconds` of wall time end it, which slow policies on
/// large graphs reach. A static scheduler's plan is carried out in its order.
Savings what_would_help(const SchedulingProblem& problem, const SimulationResult& result,
                        const CriticalChain& chain, std::size_t operations = 4'000'000, double seconds = 5);

/// The same graph with a cost class for each pair of class and layer (codelet where there are none), so that
/// one layer's tasks can be given other times. group_of[class] is the layer's or codelet's place in `names`.
struct GroupedGraph {
  TaskGraph graph;
  std::vector<std::string> names;
  std::vector<std::size_t> group_of;
  std::vector<CostClass> class_before;  ///< by new class
  bool layers = false;
};
GroupedGraph group_by_layer(const TaskGraph& graph);

}  // namespace espalier
