#include "experiments/conformance/starpu_executor.hpp"

#include "graphs/passes/bind.hpp"
#include "runtime/starpu/network_session.hpp"
#include "runtime/task_graph/lower.hpp"

namespace espalier::conformance {

Executor starpu_executor(starpu::Machine& machine, const LayerTable& layers) {
  return [&machine, &layers](const Graph& bound, const std::map<std::string, Tensor>& inputs) {
    Graph graph = bound;
    optimise(graph, layers);
    LoweringOptions options;
    options.workers = machine.workers();
    const auto program = std::make_shared<const NetworkProgram>(lower(std::move(graph), layers, options));
    starpu::NetworkSession session(machine, program, layers);
    const Graph& lowered = *program->variants[0].graph;
    for (std::size_t k = 0; k < lowered.inputs.size(); ++k)
      session.set_input(k, inputs.at(lowered.values[static_cast<std::size_t>(lowered.inputs[k])].name));
    session.run();
    std::map<std::string, Tensor> outputs;
    for (std::size_t k = 0; k < lowered.outputs.size(); ++k)
      outputs[lowered.values[static_cast<std::size_t>(lowered.outputs[k])].name] = session.output(k);
    return outputs;
  };
}

}  // namespace espalier::conformance
