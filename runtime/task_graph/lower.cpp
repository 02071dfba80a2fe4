#include "runtime/task_graph/lower.hpp"

#include <algorithm>

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
    if (planned.size() <= piece.index) planned.resize(piece.index + 1, kNone);
    if (planned[piece.index] == kNone) {
      std::int64_t size = 0;  // the largest of the variants': they share the slot's memory
      for (const Variant& v : program_.variants)
        if (piece.index < v.buffer_bytes.size()) size = std::max(size, v.buffer_bytes[piece.index]);
      planned[piece.index] = builder_.add_data({Bytes(size), 0, false});
    }
    return planned[piece.index];
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
  std::vector<std::vector<DataId>> slot_data_;
};

}  // namespace

NetworkProgram lower(const MicroBatches& cut, const LayerTable& layers, const LoweringOptions& options) {
  NetworkProgram program;
  program.batch = cut.batch;
  program.input_axes = cut.input_axes;
  program.output_axes = cut.output_axes;
  program.slots = std::clamp<std::uint32_t>(options.slots, 1, static_cast<std::uint32_t>(cut.units.size()));
  for (const MicroBatches::Variant& v : cut.variants) {
    const auto seconds = estimate_node_seconds(*v.graph, layers, v.samples, options);
    const auto segments = program.slots >= options.workers
                              ? segment_by_interval(*v.graph, seconds, options.target_seconds)
                              : segment_by_chain(*v.graph, seconds, options.target_seconds);
    program.variants.push_back(lower_variant(v.graph, layers, v.samples, segments, seconds));
  }
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
