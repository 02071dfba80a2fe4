#include <algorithm>
#include <map>

#include "schedulers/common/fractional.hpp"

namespace espalier {
namespace {

constexpr double kSecondsPerProgram = 2;
constexpr std::size_t kMostGroups = 4000;  ///< keeps the program small
constexpr CostClass kHome = ~CostClass{0};

/// Data items of one size that tasks of one class write (or that are at home), and who reads them.
struct ItemGroup {
  double bytes = 0;
  CostClass writer = kHome;
  std::map<TaskId, double> written_by;  ///< items of each writing task
  struct Readers {
    std::map<TaskId, double> reads;              ///< items that each task reads
    std::map<std::uint32_t, double> item_reads;  ///< tasks that read each item
  };
  std::map<CostClass, Readers> readers;
  std::uint32_t items = 0;
};

using Groups = std::map<std::pair<CostClass, std::int64_t>, ItemGroup>;

/// Every version of a datum that is read is an item.
Groups item_groups(const TaskGraph& graph) {
  struct Version {
    ItemGroup* group = nullptr;
    std::uint32_t item = 0;
  };
  Groups groups;
  std::vector<Version> current(graph.data_count());
  std::vector<TaskId> writer(graph.data_count(), kNoTask);
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    for (const Access& a : graph.accesses(t)) {
      const std::int64_t bytes = graph.data(a.data).size.value;
      if (!reads(a.mode) || bytes == 0) continue;
      Version& v = current[a.data];
      if (v.group == nullptr) {
        const CostClass from = writer[a.data] == kNoTask ? kHome : graph.task(writer[a.data]).cost_class;
        if (from == kHome && graph.data(a.data).home != 0) continue;
        v.group = &groups[{from, bytes}];
        v.group->bytes = static_cast<double>(bytes);
        v.group->writer = from;
        v.item = v.group->items++;
        if (from != kHome) v.group->written_by[writer[a.data]] += 1;
      }
      ItemGroup::Readers& readers = v.group->readers[graph.task(t).cost_class];
      readers.reads[t] += 1;
      readers.item_reads[v.item] += 1;
    }
    for (const Access& a : graph.accesses(t))
      if (writes(a.mode)) {
        writer[a.data] = t;
        current[a.data] = {};
      }
  }
  return groups;
}

double greatest(const auto& counts) {
  double most = 0;
  for (const auto& [key, n] : counts) most = std::max(most, n);
  return most;
}

/// Bytes a second that can enter (or leave) the memories of a kind: what the last (first) links of the routes
/// from (to) all other memories carry; infinity when one is not shared.
double border_bandwidth(const Platform& platform, const std::vector<char>& inside, bool entering) {
  std::vector<LinkId> links;
  for (MemoryId a = 0; a < platform.memories.size(); ++a)
    for (MemoryId b = 0; b < platform.memories.size(); ++b) {
      if (inside[a] == inside[b] || (inside[b] != 0) != entering || !platform.has_route(a, b)) continue;
      const auto route = platform.route(a, b);
      if (!route.empty()) links.push_back(entering ? route.back() : route.front());
    }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  double sum = 0;
  for (const LinkId l : links) {
    if (!platform.links[l].shared) return Instance::infinity();
    sum += platform.links[l].bandwidth;
  }
  return sum;
}

/// Adds the traffic into and out of one kind's memories.
class KindTraffic {
 public:
  KindTraffic(FractionalAllocation& allocation, const Groups& groups, KindId kind)
      : allocation_(allocation), groups_(groups), kind_(kind) {}

  /// An item enters when a task of the kind reads it and its writer is elsewhere: at least (reads there /
  /// most reads of an item) - (items written there); it leaves when that holds the other way round.
  void add(bool entering, double bandwidth) {
    if (bandwidth <= 0 || bandwidth == Instance::infinity()) return;
    LinearProgram& program = allocation_.program();
    std::vector<LinearProgram::Term> volume{{allocation_.makespan_column(), 1}};
    const double scale = 1 / (bandwidth * allocation_.unit());
    for (const auto& [key, group] : groups_) {
      if (group.writer == kHome && !entering) continue;
      const int crossing = program.add_column(0, 0, group.items);
      volume.push_back({crossing, -group.bytes * scale});
      const double per_writer = greatest(group.written_by);
      for (const auto& [reader, counts] : group.readers)
        add_group(group, reader, counts, per_writer, entering, crossing);
    }
    program.add_row_at_least(0, volume);
  }

 private:
  void add_group(const ItemGroup& group, CostClass reader, const ItemGroup::Readers& counts,
                 double per_writer, bool entering, int crossing) {
    const double tasks = allocation_.tasks_of(reader);
    double least_reads = Instance::infinity();
    for (const auto& [task, n] : counts.reads) least_reads = std::min(least_reads, n);
    if (static_cast<double>(counts.reads.size()) < tasks) return;  // some tasks of the class read none
    const double weight = tasks * least_reads / greatest(counts.item_reads);
    std::vector<LinearProgram::Term> terms{{crossing, 1}};
    double right = 0;
    side(reader, -weight, entering, terms, right);
    if (group.writer != kHome)
      side(group.writer, allocation_.tasks_of(group.writer) * per_writer, entering, terms, right);
    allocation_.program().add_row_at_least(-right, terms);
  }

  /// factor x share of the class inside the kind (entering) or outside of it.
  void side(CostClass c, double factor, bool inside, std::vector<LinearProgram::Term>& terms,
            double& constant) const {
    const int share = allocation_.share_column(c, kind_);
    if (!inside) constant += factor;
    if (share >= 0) terms.push_back({share, inside ? factor : -factor});
  }

  FractionalAllocation& allocation_;
  const Groups& groups_;
  KindId kind_;
};

}  // namespace

double transfer_bound(const SchedulingProblem& problem) {
  const Instance instance(problem);
  FractionalAllocation allocation(instance);
  if (allocation.unit() <= 0 || instance.kinds() < 2) return 0;
  const Groups groups = item_groups(problem.graph);
  if (groups.size() > kMostGroups) return 0;
  for (KindId k = 0; k < instance.kinds(); ++k) {
    std::vector<char> inside(instance.memories(), 0);
    bool alone = true;
    for (WorkerId w = 0; w < instance.workers(); ++w)
      if (instance.kind_of(w) == k) inside[instance.memory_of(w)] = 1;
    for (WorkerId w = 0; w < instance.workers(); ++w)
      alone = alone && (instance.kind_of(w) == k || inside[instance.memory_of(w)] == 0);
    if (!alone || inside[0] != 0 || allocation.workers_of(k) == 0) continue;
    KindTraffic traffic(allocation, groups, k);
    for (const bool entering : {true, false})
      traffic.add(entering, border_bandwidth(problem.platform, inside, entering));
  }
  allocation.close();
  return std::max(0.0, allocation.program().lower_bound(kSecondsPerProgram) * allocation.unit());
}

}  // namespace espalier
