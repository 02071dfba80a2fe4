#include "runtime/starpu/program_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "graphs/base/error.hpp"
#include "runtime/starpu/starpu_check.hpp"

namespace espalier::starpu {
namespace {

constexpr std::int64_t kLine = 64;  ///< bytes of an element of a handle; sizes are multiples

std::int64_t round_up(std::int64_t bytes, std::int64_t to) {
  return (std::max<std::int64_t>(bytes, 1) + to - 1) / to * to;
}

/// Sizes of a slot's buffers: the largest of the variants', which share the memory.
std::vector<std::int64_t> slot_buffers(const NetworkProgram& program) {
  std::vector<std::int64_t> sizes;
  for (const Variant& v : program.variants) {
    sizes.resize(std::max(sizes.size(), v.buffer_bytes.size()), 0);
    for (std::size_t b = 0; b < v.buffer_bytes.size(); ++b) sizes[b] = std::max(sizes[b], v.buffer_bytes[b]);
  }
  return sizes;
}

}  // namespace

double seconds_now() {
#ifdef STARPU_SIMGRID
  return 1e-6 * starpu_timing_now();
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

void submit_task(starpu_codelet* codelet, TaskBody& body, std::span<const HandleAccess> accesses,
                 int priority, const char* name) {
  starpu_task* task = starpu_task_create();
  task->cl = codelet;
  task->cl_arg = &body;
  task->name = name;
  set_accesses(task, accesses.size(), [&](std::size_t i) { return accesses[i]; });
  task->priority = std::clamp(priority, starpu_sched_get_min_priority(), starpu_sched_get_max_priority());
  check(starpu_task_submit(task), "starpu_task_submit");
}

class ProgramTasks::SegmentBody final : public TaskBody {
 public:
  SegmentBody(ProgramTasks& owner, std::uint32_t unit, std::uint32_t segment, TaskId task)
      : TaskBody(owner.program_->tasks.class_of(task).footprint, owner.program_.get(), task),
        owner_(owner),
        variant_(owner.program_->units[unit].variant),
        segment_(segment) {}

  void run(void** buffers, unsigned worker) noexcept override {
    if (owner_.failure_.happened() || owner_.stopped()) return;
    WorkerState& state = *owner_.workers_[worker];
    const Variant& variant = owner_.program_->variants[variant_];
    const Segment& segment = variant.segments[segment_];
    const double start = seconds_now();
    for (std::size_t i = 0; i < segment.accesses.size(); ++i)
      state.pieces[i] = reinterpret_cast<const void*>(STARPU_VECTOR_GET_PTR(buffers[i]));
    try {
      run_segment(variant, variant_, segment, state.pieces.data(), state);
    } catch (...) {
      owner_.failure_.capture(segment.label);
    }
    const double end = seconds_now();
    state.kernel_seconds += end - start;
    ++state.tasks;
    if (state.record)
      state.events.push_back({task(), static_cast<WorkerId>(worker), start, end, start, start, start});
  }

  starpu_codelet* codelet = nullptr;

 private:
  ProgramTasks& owner_;
  std::uint32_t variant_, segment_;
};

ProgramTasks::ProgramTasks(Machine& machine, std::shared_ptr<const NetworkProgram> program,
                           const LayerTable& layers, const SessionOptions& options)
    : machine_(machine), program_(std::move(program)), options_(options), weights_(make_weight_cache()) {
  const auto need = [&](std::int64_t scratch) {
    return program_->buffer_bytes() + program_->io_bytes() + program_->constant_bytes() +
           scratch * static_cast<std::int64_t>(machine.workers());
  };
  const std::string what = fmt::format("a batch of {}", program_->batch);
  std::int64_t scratch = 0;
  for (const Variant& v : program_->variants) scratch = std::max(scratch, v.scratch_bytes);
  require_memory(need(scratch), what);
  for (unsigned w = 0; w < machine.workers(); ++w) {
    workers_.push_back(std::make_unique<WorkerState>());
    workers_.back()->record = options.record_trace;
  }
  // the first worker's kernels are made here: what is wrong with the network is said by this thread
  prepare_kernels(*workers_[0], *program_, layers, *weights_, options_.kernels);
  require_memory(need(scratch_bytes(*workers_[0], *program_)), what);
  prepare_workers(layers);
  allocate();
  make_bodies();
}

ProgramTasks::~ProgramTasks() {
  for (const starpu_data_handle_t h : registered_) starpu_data_unregister(h);
}

void ProgramTasks::prepare_workers(const LayerTable& layers) {
  struct Context {
    ProgramTasks& self;
    const LayerTable& layers;
  } context{*this, layers};
  const Machine::Work work;
  machine_.on_each_worker(
      [](void* argument) {
        auto& [self, table] = *static_cast<Context*>(argument);
        const auto id = static_cast<std::size_t>(starpu_worker_get_id());
        try {
          WorkerState& state = *self.workers_.at(id);
          if (id != 0) prepare_kernels(state, *self.program_, table, *self.weights_, self.options_.kernels);
          allocate_scratch(state, *self.program_);
        } catch (...) {
          self.failure_.capture("preparation of the kernels");
        }
      },
      &context);
  failure_.rethrow();
}

/// The largest piece of any variant at the same place of the slot.
std::int64_t ProgramTasks::piece_bytes(const Piece& piece) const {
  std::int64_t bytes = 0;
  for (const Variant& v : program_->variants)
    for (const Piece& p : v.pieces)
      if (p.space == Space::buffer && p.index == piece.index && p.begin == piece.begin)
        bytes = std::max(bytes, p.end - p.begin);
  return bytes;
}

starpu_data_handle_t ProgramTasks::register_memory(std::byte* data, std::int64_t bytes) {
  starpu_data_handle_t handle = nullptr;
  // the element is as large as makes the count fit into StarPU's 32 bits
  const std::int64_t element = bytes % kLine == 0 ? kLine : bytes < (std::int64_t{1} << 31) ? 1 : kLine;
  starpu_vector_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(data),
                              static_cast<std::uint32_t>(std::max<std::int64_t>(1, bytes / element)),
                              static_cast<std::size_t>(element));
  registered_.push_back(handle);
  return handle;
}

void ProgramTasks::allocate() {
  const auto buffers = slot_buffers(*program_);
  std::int64_t total = 0;
  for (const std::int64_t b : buffers) total += round_up(b, kLine) * program_->slots;
  for (const Unit& u : program_->units) {
    const Graph& g = *program_->variants[u.variant].graph;
    for (const auto* side : {&g.inputs, &g.outputs})
      for (const ValueId v : *side) total += round_up(g.type(v).bytes(), kLine);
  }
  memory_ = HostMemory(total);
  std::byte* next = memory_.data();
  const auto take = [&](std::int64_t bytes) { return std::exchange(next, next + round_up(bytes, kLine)); };
  std::vector<std::vector<std::byte*>> slots(program_->slots);
  for (auto& slot : slots)
    for (const std::int64_t b : buffers) slot.push_back(take(b));
  std::map<std::byte*, starpu_data_handle_t>
      shared;  // variants use the slots' memory through the same handles
  for (const Unit& u : program_->units) {
    const Variant& variant = program_->variants[u.variant];
    auto& addresses = io_.emplace_back();
    for (const auto* side : {&variant.graph->inputs, &variant.graph->outputs})
      for (const ValueId v : *side) addresses.push_back(take(variant.graph->type(v).bytes()));
    auto& handles = handles_.emplace_back();
    auto& io = io_handles_.emplace_back();
    for (const Piece& p : variant.pieces) {
      if (p.space == Space::buffer) {
        std::byte* const data = slots[u.slot][p.index] + p.begin;
        auto& handle = shared[data];
        // one variant's whole buffer is the other's, whatever its size: the handle has the larger one
        if (handle == nullptr) handle = register_memory(data, piece_bytes(p));
        handles.push_back(handle);
        continue;
      }
      const std::size_t k = p.index + (p.space == Space::output ? variant.graph->inputs.size() : 0);
      handles.push_back(register_memory(addresses[k] + p.begin, p.end - p.begin));
      io.push_back(handles.back());
    }
  }
}

void ProgramTasks::make_bodies() {
  bodies_.resize(program_->units.size());
  for (TaskId t = 0; t < program_->bindings.size(); ++t) {
    const auto [unit, segment] = program_->bindings[t];
    SegmentBody& body = bodies_[unit].emplace_back(*this, unit, segment, t);
    body.codelet = machine_.codelets().get(variant_of(unit).segments[segment].codelet);
  }
}

void ProgramTasks::submit(std::uint32_t unit, int priority) {
  const Variant& variant = variant_of(unit);
  for (std::size_t s = 0; s < variant.segments.size(); ++s) {
    accesses_.clear();
    for (const PieceAccess& a : variant.segments[s].accesses)
      accesses_.push_back({handles_[unit][a.piece], a.mode});
    SegmentBody& body = bodies_[unit][s];
    submit_task(body.codelet, body, accesses_, priority, variant.segments[s].label.c_str());
  }
}

void ProgramTasks::reset_statistics() {
  for (const auto& w : workers_) {
    w->kernel_seconds = 0;
    w->tasks = 0;
    w->events.clear();
  }
}

RunStatistics ProgramTasks::statistics() const {
  RunStatistics s;
  for (const auto& w : workers_) {
    s.kernel_seconds.push_back(w->kernel_seconds);
    s.tasks.push_back(w->tasks);
  }
  return s;
}

std::vector<TaskEvent> ProgramTasks::events(double origin) const {
  std::vector<TaskEvent> all;
  for (const auto& w : workers_) all.insert(all.end(), w->events.begin(), w->events.end());
  std::vector<double> end(program_->tasks.task_count(), origin);
  for (const TaskEvent& e : all) end[e.task] = e.end;
  for (TaskEvent& e : all) {
    double ready = origin;
    for (const TaskId p : program_->tasks.predecessors(e.task)) ready = std::max(ready, end[p]);
    e = {e.task, e.worker, e.start - origin, e.end - origin, ready - origin, ready - origin, ready - origin};
  }
  std::sort(all.begin(), all.end(), [](const TaskEvent& a, const TaskEvent& b) {
    return a.end != b.end ? a.end < b.end : a.task < b.task;
  });
  return all;
}

}  // namespace espalier::starpu
