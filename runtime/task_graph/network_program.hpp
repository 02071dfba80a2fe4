#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graphs/ir/graph.hpp"
#include "runtime/task_graph/task_graph.hpp"

/// What lowering gives: a TaskGraph for schedulers and simulators and, task by task, what an engine runs.
/// See runtime/task_graph/README.md for the terms.
namespace espalier {

/// Memory that an engine gives to a program.
enum class Space : std::uint8_t {
  input,   ///< a graph input of one micro-batch; index: position in Graph::inputs
  output,  ///< a graph output of one micro-batch; index: position in Graph::outputs
  buffer,  ///< a planned buffer of the slot; index: its number
};

/// A range of memory that tasks order themselves over: one data handle.
struct Piece {
  Space space = Space::buffer;
  std::uint32_t index = 0;
  std::int64_t begin = 0, end = 0;  ///< bytes of the input, output or buffer
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Where an argument of a kernel is.
struct Location {
  enum class Kind : std::uint8_t { absent, constant, access, scratch };
  Kind kind = Kind::absent;
  std::uint32_t index = 0;  ///< constant: ValueId; access: position in Segment::accesses
  std::int64_t offset = 0;  ///< bytes from the start of the piece or of the worker's scratch memory
};

/// One kernel call, or a copy of `copy_bytes` from inputs[0] to outputs[0] when node is -1.
struct Call {
  std::int32_t node = -1;
  std::int64_t copy_bytes = 0;
  std::vector<Location> inputs, outputs;
};

struct PieceAccess {
  std::uint32_t piece = 0;  ///< index into Variant::pieces
  AccessMode mode = AccessMode::read;
};

/// Nodes that run one after the other as one task.
struct Segment {
  std::vector<Call> calls;
  std::vector<PieceAccess> accesses;
  std::vector<std::int32_t> predecessors;  ///< segments before this one, ascending
  std::int64_t scratch_bytes = 0;          ///< of the values that live and die inside
  double seconds = 0;                      ///< estimate
  std::string codelet, signature, label;
  Flops flops{0};
  Bytes bytes{0};
};

/// The network bound to one size of micro-batch.
struct Variant {
  std::shared_ptr<const Graph> graph;
  std::int64_t samples = 1;
  std::vector<Segment> segments;           ///< in topological order
  std::vector<Piece> pieces;               ///< disjoint
  std::vector<std::int64_t> buffer_bytes;  ///< planned buffers of one slot
  std::int64_t scratch_bytes = 0;          ///< largest of the segments'
};

/// One micro-batch of the batch. Units that share a slot run one after the other.
struct Unit {
  std::uint32_t variant = 0;
  std::uint32_t slot = 0;
  std::int64_t first_sample = 0;
};

struct NetworkProgram {
  std::vector<Variant> variants;
  std::vector<Unit> units;
  std::uint32_t slots = 1;
  /// Axis along which samples lie, by graph input and output; -1: the same for every micro-batch (inputs) or
  /// the whole batch is one micro-batch.
  std::vector<int> input_axes, output_axes;
  std::int64_t batch = 1;

  TaskGraph tasks;
  struct TaskBinding {
    std::uint32_t unit = 0, segment = 0;
  };
  std::vector<TaskBinding> bindings;  ///< by task

  /// Bytes of the planned buffers of all slots and of all micro-batches' inputs and outputs.
  std::int64_t buffer_bytes() const;
  std::int64_t io_bytes() const;
  std::int64_t constant_bytes() const;
};

}  // namespace espalier
