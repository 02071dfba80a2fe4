#include "runtime/starpu/stream_session.hpp"

#include <semaphore>
#include <vector>

#include "graphs/base/error.hpp"
#include "runtime/starpu/program_tasks.hpp"

namespace espalier::starpu {

/// One micro-batch in flight: the task before the network's and the one behind them.
class StreamSession::Place {
 public:
  Place(State& state, std::uint32_t unit) : state_(state), unit_(unit), fill_(*this), done_(*this) {}

  void submit(std::uint64_t index, int priority);
  bool in_flight() const { return in_flight_; }
  /// Waits for the last task.
  void wait() {
    finished_.acquire();
    in_flight_ = false;
  }
  std::uint64_t index() const { return index_; }
  bool complete() const { return complete_; }
  std::uint32_t unit() const { return unit_; }

 private:
  struct FillBody final : TaskBody {
    explicit FillBody(Place& p) : place(p) {}
    void run(void** buffers, unsigned worker) noexcept override;
    Place& place;
  };
  struct DoneBody final : TaskBody {
    explicit DoneBody(Place& p) : place(p) {}
    void run(void** buffers, unsigned worker) noexcept override;
    Place& place;
  };

  State& state_;
  std::uint32_t unit_;
  FillBody fill_;
  DoneBody done_;
  std::binary_semaphore finished_{0};
  std::uint64_t index_ = 0;
  std::vector<HandleAccess> outputs_;
  bool in_flight_ = false, complete_ = false;
};

struct StreamSession::State {
  State(Machine& machine, std::shared_ptr<const NetworkProgram> program, const LayerTable& layers,
        const SessionOptions& options, Fill fill_function, Consume consume_function)
      : tasks(machine, std::move(program), layers, options),
        fill(std::move(fill_function)),
        consume(std::move(consume_function)),
        fill_codelet(machine.codelets().get("fill_input")),
        done_codelet(machine.codelets().get("hand_out")) {
    for (std::uint32_t u = 0; u < tasks.program().units.size(); ++u)
      places.push_back(std::make_unique<Place>(*this, u));
  }

  std::int64_t bytes(std::uint32_t unit, bool input) const {
    const Graph& g = *tasks.variant_of(unit).graph;
    return g.type(input ? g.inputs[0] : g.outputs[0]).bytes();
  }

  ProgramTasks tasks;
  Fill fill;
  Consume consume;
  starpu_codelet *fill_codelet, *done_codelet;
  std::vector<std::unique_ptr<Place>> places;
  std::uint64_t pushed = 0, consumed = 0;
  double start = seconds_now();
  Machine::Work work;
};

void StreamSession::Place::FillBody::run(void**, unsigned worker) noexcept {
  State& s = place.state_;
  if (s.tasks.failure().happened() || s.tasks.stopped()) return;
  const double start = seconds_now();
  try {
    s.fill(place.index_,
           {s.tasks.input(place.unit_, 0), static_cast<std::size_t>(s.bytes(place.unit_, true))});
  } catch (...) {
    s.tasks.failure().capture("reading the input");
  }
  WorkerState& state = s.tasks.worker(worker);
  state.kernel_seconds += seconds_now() - start;
  ++state.tasks;
}

void StreamSession::Place::DoneBody::run(void**, unsigned) noexcept {
  place.complete_ = !place.state_.tasks.failure().happened() && !place.state_.tasks.stopped();
  place.finished_.release();
}

void StreamSession::Place::submit(std::uint64_t index, int priority) {
  index_ = index;
  in_flight_ = true;
  complete_ = false;
  const Graph& g = *state_.tasks.variant_of(unit_).graph;
  const auto handles = state_.tasks.io_handles(unit_);
  const HandleAccess input{handles[0], AccessMode::write};
  submit_task(state_.fill_codelet, fill_, {&input, 1}, priority, "fill input");
  state_.tasks.submit(unit_, priority);
  outputs_.clear();
  for (const starpu_data_handle_t h : handles.subspan(g.inputs.size()))
    outputs_.push_back({h, AccessMode::read});
  submit_task(state_.done_codelet, done_, outputs_, priority, "hand out");
}

StreamSession::StreamSession(Machine& machine, std::shared_ptr<const NetworkProgram> program,
                             const LayerTable& layers, const SessionOptions& options, Fill fill,
                             Consume consume) {
  for (const Variant& v : program->variants)
    if (v.graph->inputs.size() != 1 || v.graph->outputs.empty())
      throw InternalError("a stream needs a network with one input and an output");
  state_ = std::make_unique<State>(machine, std::move(program), layers, options, std::move(fill),
                                   std::move(consume));
}

StreamSession::~StreamSession() {
  for (const auto& place : state_->places)
    if (place->in_flight()) place->wait();
}

void StreamSession::settle(Place& place) {
  place.wait();
  state_->tasks.failure().rethrow();
  if (!place.complete()) return;
  ++state_->consumed;
  state_->consume(place.index(), {state_->tasks.output(place.unit(), 0),
                                  static_cast<std::size_t>(state_->bytes(place.unit(), false))});
}

void StreamSession::push() {
  Place& place = *state_->places[state_->pushed % state_->places.size()];
  if (place.in_flight()) settle(place);
  // the oldest micro-batch goes first: priorities fall along the stream and wrap far below
  constexpr std::uint64_t kPriorities = std::uint64_t{1} << 30;
  place.submit(state_->pushed, static_cast<int>(kPriorities - state_->pushed % kPriorities));
  ++state_->pushed;
}

void StreamSession::drain() {
  for (std::size_t i = 0; i < state_->places.size(); ++i) {
    Place& place = *state_->places[(state_->pushed + i) % state_->places.size()];
    if (place.in_flight()) settle(place);
  }
}

std::uint64_t StreamSession::consumed() const {
  return state_->consumed;
}

RunStatistics StreamSession::statistics() const {
  RunStatistics s = state_->tasks.statistics();
  s.makespan = seconds_now() - state_->start;
  return s;
}

}  // namespace espalier::starpu
