#include "runtime/task_graph/lower.hpp"

#include <algorithm>
#include <map>

#include "runtime/task_graph/bands.hpp"
#include "runtime/task_graph/lower_variant.hpp"
#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

/// Adds the tasks of every unit, creating each unit's and each slot's data at its first use.
class Unroller {
 public:
  explicit Unroller(NetworkProgram& program) : program_(program) {}

  void run() {
    for (const Variant& v : program_.variants) add_classes(v);
    slot_data_.resize(program_.slots);
    for (std::uint32_t u = 0; u < program_.units.size(); ++u) add_unit(u);
    builder_.graph().name = program_.variants[0].graph->name;
    builder_.graph().samples = static_cast<double>(program_.batch);
    program_.tasks = builder_.build();
  }

 private:
  void add_classes(const Variant& v) {
    auto& classes = classes_.emplace_back();
    auto& layers = layers_.emplace_back();
    for (const Segment& s : v.segments) {
      classes.push_back(builder_.add_class({s.codelet, s.signature, s.flops, s.bytes, 0}));
      layers.push_back(builder_.add_layer(s.label));
    }
  }

  DataId data_of(const Piece& piece, std::uint32_t slot, std::vector<DataId>& io, std::size_t number) {
    if (piece.space != Space::buffer) {
      if (io[number] == kNone)
        io[number] = builder_.add_data({Bytes(piece.end - piece.begin), 0, piece.space == Space::output});
      return io[number];
    }
    auto& planned = slot_data_[slot];
    const auto key = std::pair{piece.index, piece.begin};
    if (const auto it = planned.find(key); it != planned.end()) return it->second;
    std::int64_t size = piece.end - piece.begin;  // the variants share the slot's memory
    for (const Variant& v : program_.variants)
      for (const Piece& p : v.pieces)
        if (p.space == Space::buffer && p.index == piece.index && p.begin == piece.begin)
          size = std::max(size, p.end - p.begin);
    const DataId data = builder_.add_data({Bytes(size), 0, false});
    planned.emplace(key, data);
    return data;
  }

  void add_unit(std::uint32_t u) {
    const Unit& unit = program_.units[u];
    const Variant& v = program_.variants[unit.variant];
    std::vector<DataId> io(v.pieces.size(), kNone);
    for (std::uint32_t s = 0; s < v.segments.size(); ++s) {
      std::vector<Access> accesses;
      for (const PieceAccess& a : v.segments[s].accesses)
        accesses.push_back({data_of(v.pieces[a.piece], unit.slot, io, a.piece), a.mode});
      Task task;
      task.cost_class = classes_[unit.variant][s];
      task.micro_batch = static_cast<std::int32_t>(u);
      task.priority = static_cast<std::int32_t>(program_.units.size() - u);
      task.layer = layers_[unit.variant][s];
      builder_.add_task(task, accesses);
      program_.bindings.push_back({u, s});
    }
  }

  static constexpr DataId kNone = ~DataId{0};
  NetworkProgram& program_;
  TaskGraphBuilder builder_;
  std::vector<std::vector<CostClass>> classes_;
  std::vector<std::vector<std::int32_t>> layers_;
  std::vector<std::map<std::pair<std::uint32_t, std::int64_t>, DataId>> slot_data_;  ///< by buffer and begin
};

/// Each worker has micro-batches of its own: long segments.
Variant lower_alone(const MicroBatches::Variant& v, const LayerTable& layers,
                    const LoweringOptions& options) {
  const auto seconds = estimate_node_seconds(*v.graph, layers, v.samples, options);
  return lower_variant(v.graph, layers, v.samples,
                       segment_by_interval(*v.graph, seconds, options.target_seconds), seconds);
}

/// Several workers share a micro-batch: nodes are split into bands, branches stay apart.
Variant lower_shared(const MicroBatches::Variant& v, const LayerTable& layers, const LoweringOptions& options,
                     std::uint32_t slots, bool bands) {
  auto graph = v.graph;
  auto seconds = estimate_node_seconds(*graph, layers, v.samples, options);
  std::map<ValueId, View> views;
  std::vector<std::int32_t> lanes;
  if (bands) {
    BandedGraph banded = split_into_bands(*graph, layers, (options.workers + slots - 1) / slots, seconds);
    views = std::move(banded.views);
    lanes = std::move(banded.lanes);
    graph = std::make_shared<const Graph>(std::move(banded.graph));
    seconds = estimate_node_seconds(*graph, layers, v.samples, options);
  }
  const auto segments =
      segment_by_chain(node_predecessors(*graph, layers, views), seconds, lanes, options.target_seconds);
  return lower_variant(graph, layers, v.samples, segments, seconds, views);
}

}  // namespace

NetworkProgram lower(const MicroBatches& cut, const LayerTable& layers, const LoweringOptions& options) {
  NetworkProgram program;
  program.batch = cut.batch;
  program.input_axes = cut.input_axes;
  program.output_axes = cut.output_axes;
  program.slots = std::clamp<std::uint32_t>(options.slots, 1, static_cast<std::uint32_t>(cut.units.size()));
  // the handles of one slot's buffers are common to the variants, so these must be cut alike: not in bands
  const bool bands = options.bands && cut.variants.size() == 1;
  for (const MicroBatches::Variant& v : cut.variants)
    program.variants.push_back(program.slots >= options.workers
                                   ? lower_alone(v, layers, options)
                                   : lower_shared(v, layers, options, program.slots, bands));
  std::int64_t first = 0;
  for (std::uint32_t u = 0; u < cut.units.size(); ++u) {
    program.units.push_back({cut.units[u], u % program.slots, first});
    first += cut.variants[cut.units[u]].samples;
  }
  Unroller(program).run();
  return program;
}

NetworkProgram lower(Graph bound, const LayerTable& layers, const LoweringOptions& options) {
  MicroBatches cut;
  cut.input_axes.assign(bound.inputs.size(), -1);
  cut.output_axes.assign(bound.outputs.size(), -1);
  cut.variants.push_back({std::make_shared<const Graph>(std::move(bound)), 1});
  cut.units.push_back(0);
  return lower(cut, layers, options);
}

std::int64_t NetworkProgram::buffer_bytes() const {
  std::vector<std::int64_t> largest;
  for (const Variant& v : variants) {
    largest.resize(std::max(largest.size(), v.buffer_bytes.size()), 0);
    for (std::size_t b = 0; b < v.buffer_bytes.size(); ++b)
      largest[b] = std::max(largest[b], v.buffer_bytes[b]);
  }
  std::int64_t sum = 0;
  for (const std::int64_t b : largest) sum += b;
  return sum * slots;
}

std::int64_t NetworkProgram::io_bytes() const {
  std::int64_t sum = 0;
  for (const Unit& u : units)
    for (const Piece& p : variants[u.variant].pieces)
      if (p.space != Space::buffer) sum += p.end - p.begin;
  return sum;
}

std::int64_t NetworkProgram::constant_bytes() const {
  std::int64_t sum = 0;
  for (const Value& v : variants[0].graph->values)
    if (v.constant) sum += v.constant->bytes();
  return sum;
}

}  // namespace espalier
