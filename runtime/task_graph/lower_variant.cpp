#include "runtime/task_graph/lower_variant.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/codelet_name.hpp"
#include "runtime/task_graph/memory_plan.hpp"
#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

/// Where a root value (one that is no alias) lives.
struct Storage {
  enum class Kind : std::uint8_t { constant, input, output, shared, scratch };
  Kind kind = Kind::constant;
  std::uint32_t index = 0;            ///< input, output, or piece of a shared value
  std::int64_t offset = 0;            ///< scratch
  std::int32_t producer = -1;         ///< segment
  std::vector<std::int32_t> readers;  ///< segments, ascending, unique, producer included when it reads
};

class VariantBuilder {
 public:
  VariantBuilder(std::shared_ptr<const Graph> graph, const LayerTable& layers,
                 std::span<const std::int32_t> segment_of_node, std::span<const double> seconds)
      : graph_(*graph), layers_(layers), segment_of_node_(segment_of_node), seconds_(seconds) {
    variant_.graph = std::move(graph);
  }

  Variant build(std::int64_t samples) {
    variant_.samples = samples;
    find_roots();
    make_segments();
    place_outputs();
    find_users();
    place_pieces();
    place_scratch();
    for (Segment& s : variant_.segments) resolve(s);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) describe(n);
    return std::move(variant_);
  }

 private:
  struct Copy {
    ValueId from = kAbsent;
    std::uint32_t output = 0;
    std::int32_t segment = 0;
  };

  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }

  void find_roots() {
    root_.resize(graph_.values.size());
    for (std::size_t v = 0; v < root_.size(); ++v) root_[v] = static_cast<ValueId>(v);
    for (const Node& node : graph_.nodes)
      if (is_alias(layers_, node)) root_[at(node.outputs[0])] = root_[at(node.inputs[0])];
    storage_.resize(graph_.values.size());
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i) {
      storage_[at(graph_.inputs[i])].kind = Storage::Kind::input;
      storage_[at(graph_.inputs[i])].index = i;
    }
  }

  /// Drops the segments that hold nothing but aliases and numbers the rest.
  void make_segments() {
    std::vector<std::int32_t> number;
    const std::size_t count =
        segment_of_node_.empty()
            ? 0
            : static_cast<std::size_t>(*std::max_element(segment_of_node_.begin(), segment_of_node_.end())) +
                  1;
    std::vector<char> used(count, 0);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!is_alias(layers_, graph_.nodes[n])) used[static_cast<std::size_t>(segment_of_node_[n])] = 1;
    std::int32_t next = 0;
    for (const char u : used) number.push_back(u != 0 ? next++ : -1);
    segment_.assign(graph_.nodes.size(), -1);
    variant_.segments.resize(static_cast<std::size_t>(next));
    nodes_.resize(variant_.segments.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      if (is_alias(layers_, node)) continue;
      segment_[n] = number[static_cast<std::size_t>(segment_of_node_[n])];
      nodes_[static_cast<std::size_t>(segment_[n])].push_back(static_cast<std::int32_t>(n));
      for (const ValueId v : node.outputs) {
        if (v == kAbsent) continue;
        storage_[at(v)].kind = Storage::Kind::scratch;
        storage_[at(v)].producer = segment_[n];
      }
    }
  }

  /// The first output of a computed value is its home; every other output is a copy.
  void place_outputs() {
    for (std::uint32_t k = 0; k < graph_.outputs.size(); ++k) {
      Storage& s = storage_[at(root_[at(graph_.outputs[k])])];
      if (s.kind == Storage::Kind::scratch) {
        s.kind = Storage::Kind::output;
        s.index = k;
        continue;
      }
      copies_.push_back({root_[at(graph_.outputs[k])], k, std::max(s.producer, 0)});
    }
    if (!copies_.empty() && variant_.segments.empty()) {
      variant_.segments.emplace_back();
      nodes_.emplace_back();
    }
  }

  void add_reader(ValueId v, std::int32_t segment) {
    if (v == kAbsent) return;
    auto& readers = storage_[at(root_[at(v)])].readers;
    if (readers.empty() || readers.back() != segment) readers.push_back(segment);
  }

  void find_users() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (segment_[n] >= 0)
        for (const ValueId v : graph_.nodes[n].inputs) add_reader(v, segment_[n]);
    for (const Copy& c : copies_) add_reader(c.from, c.segment);
    std::vector<std::vector<std::int32_t>> before(variant_.segments.size());
    for (Storage& s : storage_) {
      std::sort(s.readers.begin(), s.readers.end());
      s.readers.erase(std::unique(s.readers.begin(), s.readers.end()), s.readers.end());
      if (s.producer < 0) continue;
      for (const std::int32_t r : s.readers) {
        if (r == s.producer) continue;
        if (r < s.producer) throw InternalError("a segment reads what a later one computes");
        before[static_cast<std::size_t>(r)].push_back(s.producer);
        if (s.kind == Storage::Kind::scratch) s.kind = Storage::Kind::shared;
      }
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      std::sort(before[i].begin(), before[i].end());
      before[i].erase(std::unique(before[i].begin(), before[i].end()), before[i].end());
      variant_.segments[i].predecessors = std::move(before[i]);
    }
  }

  void place_pieces() {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i)
      variant_.pieces.push_back({Space::input, i, 0, graph_.type(graph_.inputs[i]).bytes()});
    for (std::uint32_t i = 0; i < graph_.outputs.size(); ++i)
      variant_.pieces.push_back({Space::output, i, 0, graph_.type(graph_.outputs[i]).bytes()});
    std::vector<SharedValue> shared;
    std::vector<std::size_t> owner;
    for (std::size_t v = 0; v < storage_.size(); ++v) {
      const Storage& s = storage_[v];
      if (s.kind != Storage::Kind::shared) continue;
      shared.push_back({graph_.type(static_cast<ValueId>(v)).bytes(), s.producer, s.readers});
      owner.push_back(v);
    }
    std::vector<std::vector<std::int32_t>> predecessors;
    predecessors.reserve(variant_.segments.size());
    for (const Segment& s : variant_.segments) predecessors.push_back(s.predecessors);
    const BufferPlan plan = plan_buffers(shared, Reachability(predecessors));
    const auto base = static_cast<std::uint32_t>(variant_.pieces.size());
    for (std::uint32_t b = 0; b < plan.bytes.size(); ++b)
      variant_.pieces.push_back({Space::buffer, b, 0, plan.bytes[b]});
    variant_.buffer_bytes = plan.bytes;
    for (std::size_t i = 0; i < owner.size(); ++i) storage_[owner[i]].index = base + plan.buffer[i];
  }

  /// Offsets of the values that live inside one segment; steps are its calls.
  void place_scratch() {
    for (std::size_t s = 0; s < variant_.segments.size(); ++s) {
      std::vector<Lifetime> lives;
      std::vector<ValueId> owner;
      std::vector<std::int32_t> index(graph_.values.size(), -1);
      for (std::size_t step = 0; step < nodes_[s].size(); ++step) {
        const Node& node = graph_.nodes[static_cast<std::size_t>(nodes_[s][step])];
        const auto now = static_cast<std::int32_t>(step);
        for (const ValueId v : node.inputs)
          if (v != kAbsent && index[at(root_[at(v)])] >= 0)
            lives[static_cast<std::size_t>(index[at(root_[at(v)])])].last = now;
        for (const ValueId v : node.outputs) {
          if (v == kAbsent || storage_[at(v)].kind != Storage::Kind::scratch) continue;
          index[at(v)] = static_cast<std::int32_t>(lives.size());
          lives.push_back({graph_.type(v).bytes(), now, now});
          owner.push_back(v);
        }
      }
      const OffsetPlan plan = plan_offsets(lives);
      for (std::size_t i = 0; i < owner.size(); ++i) storage_[at(owner[i])].offset = plan.offsets[i];
      variant_.segments[s].scratch_bytes = plan.bytes;
      variant_.scratch_bytes = std::max(variant_.scratch_bytes, plan.bytes);
    }
  }

  std::uint32_t access(Segment& segment, std::uint32_t piece, AccessMode mode) {
    for (std::uint32_t i = 0; i < segment.accesses.size(); ++i) {
      PieceAccess& a = segment.accesses[i];
      if (a.piece != piece) continue;
      // what the segment wrote itself it may read again without asking for the old content
      if (!writes(a.mode) && writes(mode)) a.mode = AccessMode::read_write;
      return i;
    }
    segment.accesses.push_back({piece, mode});
    return static_cast<std::uint32_t>(segment.accesses.size() - 1);
  }

  Location locate(Segment& segment, ValueId v, AccessMode mode) {
    if (v == kAbsent) return {};
    const ValueId root = root_[at(v)];
    const Storage& s = storage_[at(root)];
    switch (s.kind) {
      case Storage::Kind::constant:
        return {Location::Kind::constant, static_cast<std::uint32_t>(root), 0};
      case Storage::Kind::scratch:
        return {Location::Kind::scratch, 0, s.offset};
      case Storage::Kind::input:
        return {Location::Kind::access, access(segment, s.index, mode), 0};
      case Storage::Kind::output:
        return {Location::Kind::access,
                access(segment, static_cast<std::uint32_t>(graph_.inputs.size()) + s.index, mode), 0};
      case Storage::Kind::shared:
        return {Location::Kind::access, access(segment, s.index, mode), 0};
    }
    return {};
  }

  void resolve(Segment& segment) {
    const auto s = static_cast<std::size_t>(&segment - variant_.segments.data());
    for (const std::int32_t n : nodes_[s]) {
      const Node& node = graph_.nodes[static_cast<std::size_t>(n)];
      Call call{n, 0, {}, {}};
      for (const ValueId v : node.inputs) call.inputs.push_back(locate(segment, v, AccessMode::read));
      for (const ValueId v : node.outputs) call.outputs.push_back(locate(segment, v, AccessMode::write));
      segment.calls.push_back(std::move(call));
    }
    for (const Copy& c : copies_) {
      if (static_cast<std::size_t>(c.segment) != s) continue;
      Call call{-1, graph_.type(c.from).bytes(), {locate(segment, c.from, AccessMode::read)}, {}};
      const auto piece = static_cast<std::uint32_t>(graph_.inputs.size()) + c.output;
      call.outputs.push_back({Location::Kind::access, access(segment, piece, AccessMode::write), 0});
      segment.bytes += Bytes(2 * call.copy_bytes);
      segment.signature += fmt::format("copy {}; ", call.copy_bytes);
      if (segment.codelet.empty()) segment.codelet = "copy";
      if (segment.label.empty()) segment.label = graph_.values[at(graph_.outputs[c.output])].name;
      segment.calls.push_back(std::move(call));
    }
  }

  /// Adds a node's cost to its segment; the costliest node names it.
  void describe(std::size_t n) {
    if (segment_[n] < 0) return;
    Segment& s = variant_.segments[static_cast<std::size_t>(segment_[n])];
    const Node& node = graph_.nodes[n];
    const LayerCost cost = layers_.at(node).cost(view_of(graph_, node));
    s.flops += cost.flops;
    s.bytes += cost.bytes_read + cost.bytes_written;
    s.seconds += seconds_[n];
    s.signature += signature_of(graph_, node) + "; ";
    double costliest = 0;
    for (const std::int32_t other : nodes_[static_cast<std::size_t>(segment_[n])])
      costliest = std::max(costliest, seconds_[static_cast<std::size_t>(other)]);
    if (s.codelet.empty() || s.codelet == "copy" || seconds_[n] == costliest)
      s.codelet = codelet_name(graph_, node);
    const auto& inside = nodes_[static_cast<std::size_t>(segment_[n])];
    if (static_cast<std::int32_t>(n) != inside.back()) return;
    const std::string& first = graph_.nodes[static_cast<std::size_t>(inside.front())].name;
    s.label = inside.size() == 1 ? first : fmt::format("{}..{}", first, node.name);
  }

  const Graph& graph_;
  const LayerTable& layers_;
  std::span<const std::int32_t> segment_of_node_;
  std::span<const double> seconds_;
  Variant variant_;
  std::vector<ValueId> root_;
  std::vector<Storage> storage_;
  std::vector<std::int32_t> segment_;             ///< by node, -1 for an alias
  std::vector<std::vector<std::int32_t>> nodes_;  ///< by segment
  std::vector<Copy> copies_;
};

}  // namespace

Variant lower_variant(std::shared_ptr<const Graph> graph, const LayerTable& layers, std::int64_t samples,
                      std::span<const std::int32_t> segment_of_node, std::span<const double> node_seconds) {
  return VariantBuilder(std::move(graph), layers, segment_of_node, node_seconds).build(samples);
}

}  // namespace espalier
