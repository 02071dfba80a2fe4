#pragma once

#include "graphs/passes/bind.hpp"

namespace espalier {

/// Makes the types of the graph's inputs static as the binding says; inputs with a known value become
/// constants. InputError names an input or dimension that the graph does not have, and a shape that
/// contradicts it.
void bind_inputs(Graph& graph, const Binding& binding);

}  // namespace espalier
