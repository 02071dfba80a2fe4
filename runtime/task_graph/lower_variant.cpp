#include "runtime/task_graph/lower_variant.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/codelet_name.hpp"
#include "runtime/task_graph/memory_plan.hpp"
#include "runtime/task_graph/segment.hpp"
#include "runtime/task_graph/storage.hpp"

namespace espalier {
namespace {

void sort_unique(std::vector<std::int32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

class VariantBuilder {
 public:
  VariantBuilder(std::shared_ptr<const Graph> graph, const LayerTable& layers,
                 std::span<const std::int32_t> segment_of_node, std::span<const double> seconds,
                 const std::map<ValueId, View>& views)
      : graph_(*graph),
        layers_(layers),
        segment_of_node_(segment_of_node),
        seconds_(seconds),
        roots_(find_roots(*graph, layers, views)) {
    variant_.graph = std::move(graph);
  }

  Variant build(std::int64_t samples) {
    variant_.samples = samples;
    make_segments();
    find_parts();
    place_outputs();
    find_users();
    place_pieces();
    place_scratch();
    for (std::size_t s = 0; s < variant_.segments.size(); ++s) resolve(s);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) describe(n);
    return std::move(variant_);
  }

 private:
  struct Copy {
    ValueId from = kAbsent;
    std::uint32_t output = 0;
    std::int32_t segment = 0;
  };
  struct Range {
    std::size_t first = 0, last = 0;  ///< parts, inclusive
  };

  static std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }
  Storage& storage_of(ValueId v) { return storage_[at(roots_[at(v)].value)]; }

  /// The parts of its root's memory that a value covers.
  Range parts_of(ValueId v) {
    const auto& parts = storage_of(v).parts;
    const std::int64_t begin = roots_[at(v)].offset;
    const std::int64_t end = begin + std::max<std::int64_t>(graph_.type(v).bytes(), 1);
    Range r;
    while (r.first + 1 < parts.size() && parts[r.first].end <= begin) ++r.first;
    r.last = r.first;
    while (r.last + 1 < parts.size() && parts[r.last + 1].begin < end) ++r.last;
    return r;
  }

  /// Drops the segments that hold nothing but aliases and numbers the rest.
  void make_segments() {
    std::size_t count = 0;
    for (const std::int32_t s : segment_of_node_) count = std::max(count, at(s) + 1);
    std::vector<std::int32_t> number(count, -1);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (!is_alias(layers_, graph_.nodes[n])) number[at(segment_of_node_[n])] = 0;
    std::int32_t next = 0;
    for (std::int32_t& i : number)
      if (i == 0) i = next++;
    segment_.assign(graph_.nodes.size(), -1);
    variant_.segments.resize(at(next));
    nodes_.resize(at(next));
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (is_alias(layers_, graph_.nodes[n])) continue;
      segment_[n] = number[at(segment_of_node_[n])];
      nodes_[at(segment_[n])].push_back(static_cast<std::int32_t>(n));
    }
  }

  void find_parts() {
    storage_.resize(graph_.values.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (segment_[n] < 0) continue;
      for (const ValueId v : graph_.nodes[n].outputs) {
        if (v == kAbsent) continue;
        const std::int64_t begin = roots_[at(v)].offset;
        Storage& s = storage_of(v);
        s.kind = Storage::Kind::scratch;
        s.parts.push_back({begin, begin + graph_.type(v).bytes(), segment_[n], {}, 0});
      }
    }
    for (Storage& s : storage_)
      std::sort(s.parts.begin(), s.parts.end(),
                [](const StoragePart& a, const StoragePart& b) { return a.begin < b.begin; });
    for (const ValueId v : graph_.inputs) {
      storage_[at(v)].kind = Storage::Kind::input;
      storage_[at(v)].parts = {{0, graph_.type(v).bytes(), -1, {}, 0}};
    }
  }

  /// The first output of a computed value is its home; every other output is a copy.
  void place_outputs() {
    for (std::uint32_t k = 0; k < graph_.outputs.size(); ++k) {
      const ValueId v = graph_.outputs[k];
      Storage& s = storage_of(v);
      const bool whole =
          roots_[at(v)].offset == 0 && graph_.type(v).bytes() == graph_.type(roots_[at(v)].value).bytes();
      if (s.kind == Storage::Kind::scratch && whole) {
        s.kind = Storage::Kind::output;
        s.output = k;
        continue;
      }
      std::int32_t last = 0;
      for (const StoragePart& p : s.parts) last = std::max(last, p.producer);
      copies_.push_back({v, k, last});
    }
    if (!copies_.empty() && variant_.segments.empty()) {
      variant_.segments.emplace_back();
      nodes_.emplace_back();
    }
  }

  void add_reader(ValueId v, std::int32_t segment) {
    if (v == kAbsent || storage_of(v).parts.empty()) return;
    const Range r = parts_of(v);
    Storage& s = storage_of(v);
    s.read_across = s.read_across || r.first != r.last;
    for (std::size_t p = r.first; p <= r.last; ++p) s.parts[p].readers.push_back(segment);
  }

  void find_users() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (segment_[n] >= 0)
        for (const ValueId v : graph_.nodes[n].inputs) add_reader(v, segment_[n]);
    for (const Copy& c : copies_) add_reader(c.from, c.segment);
    std::vector<std::vector<std::int32_t>> before(variant_.segments.size());
    for (Storage& s : storage_) {
      bool local = true;
      for (StoragePart& p : s.parts) {
        sort_unique(p.readers);
        for (const std::int32_t r : p.readers) {
          if (p.producer < 0 || r == p.producer) continue;
          if (r < p.producer) throw InternalError("a segment reads what a later one computes");
          before[at(r)].push_back(p.producer);
          local = false;
        }
      }
      if (s.kind == Storage::Kind::scratch && (!local || s.read_across)) s.kind = Storage::Kind::shared;
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      sort_unique(before[i]);
      variant_.segments[i].predecessors = std::move(before[i]);
    }
  }

  /// Appends a piece for each part; the cuts are those between the parts.
  std::uint32_t add_pieces(Space space, std::uint32_t index, const std::vector<std::int64_t>& cuts,
                           std::int64_t bytes) {
    const auto first = static_cast<std::uint32_t>(variant_.pieces.size());
    std::int64_t begin = 0;
    for (const std::int64_t cut : cuts) {
      variant_.pieces.push_back({space, index, begin, cut});
      begin = cut;
    }
    variant_.pieces.push_back({space, index, begin, bytes});
    return first;
  }

  static std::vector<std::int64_t> cuts_of(const Storage& s) {
    std::vector<std::int64_t> cuts;
    for (std::size_t p = 1; p < s.parts.size(); ++p) cuts.push_back(s.parts[p].begin);
    return cuts;
  }

  void place_pieces() {
    for (std::uint32_t i = 0; i < graph_.inputs.size(); ++i)
      storage_[at(graph_.inputs[i])].first_piece =
          add_pieces(Space::input, i, {}, graph_.type(graph_.inputs[i]).bytes());
    for (std::uint32_t k = 0; k < graph_.outputs.size(); ++k) {
      Storage& s = storage_of(graph_.outputs[k]);
      const bool home = s.kind == Storage::Kind::output && s.output == k;
      const std::uint32_t first =
          add_pieces(Space::output, k, home ? cuts_of(s) : std::vector<std::int64_t>{},
                     graph_.type(graph_.outputs[k]).bytes());
      output_piece_.push_back(first);
      if (home) s.first_piece = first;
    }
    std::vector<SharedValue> shared;
    std::vector<std::size_t> owner;
    for (std::size_t v = 0; v < storage_.size(); ++v) {
      const Storage& s = storage_[v];
      if (s.kind != Storage::Kind::shared) continue;
      SharedValue& value = shared.emplace_back();
      value.bytes = graph_.type(static_cast<ValueId>(v)).bytes();
      value.cuts = cuts_of(s);
      for (const StoragePart& p : s.parts) {
        value.producers.push_back(p.producer);
        value.readers.insert(value.readers.end(), p.readers.begin(), p.readers.end());
      }
      owner.push_back(v);
    }
    std::vector<std::vector<std::int32_t>> predecessors;
    for (const Segment& s : variant_.segments) predecessors.push_back(s.predecessors);
    const BufferPlan plan = plan_buffers(shared, Reachability(predecessors));
    std::vector<std::uint32_t> first;
    for (std::uint32_t b = 0; b < plan.bytes.size(); ++b)
      first.push_back(add_pieces(Space::buffer, b, plan.cuts[b], plan.bytes[b]));
    variant_.buffer_bytes = plan.bytes;
    for (std::size_t i = 0; i < owner.size(); ++i) storage_[owner[i]].first_piece = first[plan.buffer[i]];
  }

  /// Offsets of the parts that live inside one segment; steps are its calls.
  void place_scratch() {
    // by root and part: its place among the lives of the segment
    std::map<std::pair<ValueId, std::size_t>, std::size_t> life;
    for (std::size_t s = 0; s < variant_.segments.size(); ++s) {
      std::vector<Lifetime> lives;
      std::vector<StoragePart*> owner;
      life.clear();
      for (std::size_t step = 0; step < nodes_[s].size(); ++step) {
        const Node& node = graph_.nodes[at(nodes_[s][step])];
        const auto now = static_cast<std::int32_t>(step);
        for (const ValueId v : node.inputs) {
          if (v == kAbsent || storage_of(v).kind != Storage::Kind::scratch) continue;
          lives[life.at({roots_[at(v)].value, parts_of(v).first})].last = now;
        }
        for (const ValueId v : node.outputs) {
          if (v == kAbsent || storage_of(v).kind != Storage::Kind::scratch) continue;
          const std::size_t part = parts_of(v).first;
          life[{roots_[at(v)].value, part}] = lives.size();
          lives.push_back({graph_.type(v).bytes(), now, now});
          owner.push_back(&storage_of(v).parts[part]);
        }
      }
      const OffsetPlan plan = plan_offsets(lives);
      for (std::size_t i = 0; i < owner.size(); ++i) owner[i]->scratch_offset = plan.offsets[i];
      variant_.segments[s].scratch_bytes = plan.bytes;
      variant_.scratch_bytes = std::max(variant_.scratch_bytes, plan.bytes);
    }
  }

  static std::uint32_t access(Segment& segment, std::uint32_t piece, AccessMode mode) {
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
    const auto [root, offset] = roots_[at(v)];
    const Storage& s = storage_[at(root)];
    if (s.kind == Storage::Kind::constant)
      return {Location::Kind::constant, static_cast<std::uint32_t>(root), offset};
    const Range r = parts_of(v);
    const StoragePart& part = s.parts[r.first];
    if (s.kind == Storage::Kind::scratch)
      return {Location::Kind::scratch, 0, part.scratch_offset + offset - part.begin};
    const std::uint32_t first = access(segment, s.first_piece + static_cast<std::uint32_t>(r.first), mode);
    for (std::size_t p = r.first + 1; p <= r.last; ++p)
      access(segment, s.first_piece + static_cast<std::uint32_t>(p), mode);
    return {Location::Kind::access, first, offset - part.begin};
  }

  void resolve(std::size_t s) {
    Segment& segment = variant_.segments[s];
    for (const std::int32_t n : nodes_[s]) {
      const Node& node = graph_.nodes[at(n)];
      Call call{n, 0, {}, {}};
      for (const ValueId v : node.inputs) call.inputs.push_back(locate(segment, v, AccessMode::read));
      for (const ValueId v : node.outputs) call.outputs.push_back(locate(segment, v, AccessMode::write));
      segment.calls.push_back(std::move(call));
    }
    for (const Copy& c : copies_) {
      if (at(c.segment) != s) continue;
      Call call{-1, graph_.type(c.from).bytes(), {locate(segment, c.from, AccessMode::read)}, {}};
      const std::uint32_t to = access(segment, output_piece_[c.output], AccessMode::write);
      call.outputs.push_back({Location::Kind::access, to, 0});
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
    Segment& s = variant_.segments[at(segment_[n])];
    const auto& inside = nodes_[at(segment_[n])];
    const Node& node = graph_.nodes[n];
    const LayerCost cost = layers_.at(node).cost(view_of(graph_, node));
    s.flops += cost.flops;
    s.bytes += cost.bytes_read + cost.bytes_written;
    s.seconds += seconds_[n];
    s.signature += signature_of(graph_, node) + "; ";
    const auto costliest =
        std::max_element(inside.begin(), inside.end(),
                         [&](std::int32_t a, std::int32_t b) { return seconds_[at(a)] < seconds_[at(b)]; });
    if (static_cast<std::int32_t>(n) == *costliest) s.codelet = codelet_name(graph_, node);
    if (static_cast<std::int32_t>(n) != inside.back()) return;
    const std::string& first = graph_.nodes[at(inside.front())].name;
    s.label = inside.size() == 1 ? first : fmt::format("{}..{}", first, node.name);
  }

  const Graph& graph_;
  const LayerTable& layers_;
  std::span<const std::int32_t> segment_of_node_;
  std::span<const double> seconds_;
  std::vector<Root> roots_;  ///< by value
  Variant variant_;
  std::vector<Storage> storage_;                  ///< by root
  std::vector<std::int32_t> segment_;             ///< by node, -1 for an alias
  std::vector<std::vector<std::int32_t>> nodes_;  ///< by segment
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> output_piece_;
};

}  // namespace

Variant lower_variant(std::shared_ptr<const Graph> graph, const LayerTable& layers, std::int64_t samples,
                      std::span<const std::int32_t> segment_of_node, std::span<const double> node_seconds,
                      const std::map<ValueId, View>& views) {
  return VariantBuilder(std::move(graph), layers, segment_of_node, node_seconds, views).build(samples);
}

}  // namespace espalier
