#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/session_options.hpp"
#include "runtime/starpu/statistics.hpp"
#include "runtime/task_graph/network_program.hpp"

namespace espalier::starpu {

class ProgramTasks;

/// An endless sequence of micro-batches through a lowered program: each unit of the program is a place for
/// one micro-batch in flight, so memory does not grow with the length of the stream. Filling the input
/// (reading, decoding) is a task as well and overlaps with the network's. Results come back in order, on the
/// caller's thread.
class StreamSession {
 public:
  /// Writes input 0 of micro-batch `index`; runs on a worker. What it throws ends the stream at the next push
  /// or drain.
  using Fill = std::function<void(std::uint64_t index, std::span<std::byte> input)>;
  /// Reads output 0 of micro-batch `index`; runs on the caller's thread, in the order of the indices.
  using Consume = std::function<void(std::uint64_t index, std::span<const std::byte> output)>;

  /// `program` has one input and as many units as micro-batches may be in flight, each with a slot of its
  /// own. InputError when the memory is not there.
  StreamSession(Machine& machine, std::shared_ptr<const NetworkProgram> program, const LayerTable& layers,
                const SessionOptions& options, Fill fill, Consume consume);
  /// Waits for what is in flight.
  ~StreamSession();
  StreamSession(const StreamSession&) = delete;
  StreamSession& operator=(const StreamSession&) = delete;

  /// Submits the next micro-batch; where all places are taken, waits for the oldest and consumes it first.
  void push();
  /// Waits for and consumes all that is in flight.
  void drain();
  /// Consumed so far; less than pushed after an interruption (SessionOptions::stop drops what has not
  /// started).
  std::uint64_t consumed() const;
  RunStatistics statistics() const;

 private:
  class Place;
  void settle(Place& place);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::starpu
