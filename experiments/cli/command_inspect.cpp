#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "experiments/workloads/inspect.hpp"
#include "graphs/base/error.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

struct InspectOptions {
  std::string graph;
  ParameterChoice parameters;
  std::int64_t batch = 1;
  bool optimised = false;
  bool json = false;
  double peak_gflops = Roofline{}.peak_flops / 1e9;
  double bandwidth_gb = Roofline{}.bandwidth / 1e9;
};

std::string shapes_of(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& t : types) text += fmt::format("{}{}", text.empty() ? "" : " ", t.shape.to_string());
  return text;
}

std::string types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::string text;
  for (ValueId v : values)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph.values[static_cast<std::size_t>(v)].name,
                        graph.type(v).to_string());
  return text;
}

void print_text(const InspectOptions& o, const Graph& graph, const GraphFacts& facts) {
  std::size_t op = 8, name = 4, output = 6;
  for (const OperatorFacts& f : facts.operators) {
    op = std::max(op, f.op.size());
    name = std::max(name, std::min<std::size_t>(f.name.size(), 48));
    output = std::max(output, shapes_of(f.outputs).size());
  }
  fmt::print("{}: {} operators, batch {}\ninput  {}\noutput {}\n\n", graph.name, facts.operators.size(),
             o.batch, types_of(graph, graph.inputs), types_of(graph, graph.outputs));
  fmt::print("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>10}  {:>9}  {:>9}  {:>6}  bound\n", "operator", op, "name",
             name, "output", output, "parameters", "Mflop", "MB", "flop/byte", "share");
  for (const OperatorFacts& f : facts.operators)
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {:>12}  {:>10.2f}  {:>9.3f}  {:>9.2f}  {:>5.1f}%  {}{}\n", f.op, op,
               f.name.substr(0, 48), name, shapes_of(f.outputs), output, f.parameters, f.flops.value / 1e6,
               static_cast<double>(f.bytes.value) / 1e6, f.intensity, 100 * f.share,
               f.time.value == 0 ? "-" : (f.compute_bound ? "compute" : "memory"), f.bottleneck ? " *" : "");
  fmt::print(
      "\ntotal: {} parameters ({:.1f} MB), {:.3f} Gflop, {:.1f} MB moved, {:.2f} ms by the roofline of {} "
      "Gflop/s and "
      "{} GB/s\n* the slowest operators, which take half of that time together\n",
      facts.parameters, static_cast<double>(facts.parameter_bytes.value) / 1e6, facts.flops.value / 1e9,
      static_cast<double>(facts.bytes.value) / 1e6, 1e3 * facts.time.value, o.peak_gflops, o.bandwidth_gb);
}

nlohmann::ordered_json json_of(const std::vector<TensorType>& types) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TensorType& t : types) list.push_back({{"dtype", name_of(t.dtype)}, {"shape", t.shape.dims()}});
  return list;
}

nlohmann::ordered_json json_of(const Graph& graph, const std::vector<ValueId>& values) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (ValueId v : values)
    list.push_back({{"name", graph.values[static_cast<std::size_t>(v)].name},
                    {"dtype", name_of(graph.type(v).dtype)},
                    {"shape", graph.type(v).shape.dims()}});
  return list;
}

void print_json(const InspectOptions& o, const Graph& graph, const GraphFacts& facts) {
  nlohmann::ordered_json json;
  json["graph"] = graph.name;
  json["batch"] = o.batch;
  json["optimised"] = o.optimised;
  json["inputs"] = json_of(graph, graph.inputs);
  json["outputs"] = json_of(graph, graph.outputs);
  json["operators"] = nlohmann::ordered_json::array();
  for (const OperatorFacts& f : facts.operators)
    json["operators"].push_back({{"name", f.name},
                                 {"op", f.op},
                                 {"inputs", json_of(f.inputs)},
                                 {"outputs", json_of(f.outputs)},
                                 {"parameters", f.parameters},
                                 {"flops", f.flops.value},
                                 {"bytes", f.bytes.value},
                                 {"intensity", f.intensity},
                                 {"seconds", f.time.value},
                                 {"share", f.share},
                                 {"bound", f.compute_bound ? "compute" : "memory"},
                                 {"bottleneck", f.bottleneck}});
  json["totals"] = {{"operators", facts.operators.size()},
                    {"parameters", facts.parameters},
                    {"parameter_bytes", facts.parameter_bytes.value},
                    {"flops", facts.flops.value},
                    {"bytes", facts.bytes.value},
                    {"seconds", facts.time.value}};
  json["roofline"] = {{"peak_flops", o.peak_gflops * 1e9}, {"bandwidth", o.bandwidth_gb * 1e9}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void run_inspect(const InspectOptions& o) {
  const LayerTable& layers = all_layers();
  const NetworkSource source = load_network(o.graph, layers, o.parameters);
  for (const std::string& warning : source.warnings) fmt::print(stderr, "espalier: warning: {}\n", warning);
  Binding binding;
  binding.batch = o.batch;
  Graph graph = bind(source.graph, layers, binding);
  if (graph.name.empty()) graph.name = source.name;
  if (o.optimised) optimise(graph, layers);
  const GraphFacts facts = inspect_graph(graph, layers, {o.peak_gflops * 1e9, o.bandwidth_gb * 1e9});
  o.json ? print_json(o, graph, facts) : print_text(o, graph, facts);
}

}  // namespace

void add_inspect_command(CLI::App& app, int&) {
  auto o = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Operators of a network: shapes, parameters, flops, bytes and bottlenecks");
  command->add_option("GRAPH", o->graph, "a network's name or an .onnx file")->required();
  command->add_option("--weights", o->parameters.weights,
                      "safetensors or PyTorch checkpoint of a named network");
  command->add_option("--batch", o->batch, "images in a batch")
      ->transform(whole_number(1, kMostBatch))
      ->capture_default_str();
  command->add_flag("--optimised,--optimized", o->optimised, "the graph as the passes leave it");
  command->add_flag("--json", o->json, "print JSON");
  command->add_option("--peak-gflops", o->peak_gflops, "of the roofline, Gflop/s")
      ->transform(positive_number(1e12))
      ->capture_default_str();
  command->add_option("--bandwidth-gb", o->bandwidth_gb, "of the roofline, GB/s")
      ->transform(positive_number(1e12))
      ->capture_default_str();
  command->footer(
      "Examples:\n  espalier inspect resnet50 --batch 16\n  espalier inspect model.onnx --optimised --json");
  command->callback([o] { run_inspect(*o); });
}

}  // namespace espalier
