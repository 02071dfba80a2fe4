#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "experiments/report/report.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

/// The definitions of the events that follow, with numbers of our own (Paje's format lets a file choose
/// them).
constexpr std::string_view kDefinitions = R"(%EventDef PajeDefineContainerType 1
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineStateType 3
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineVariableType 4
%  Alias string
%  Type string
%  Name string
%EndEventDef
%EventDef PajeDefineLinkType 5
%  Alias string
%  Type string
%  StartContainerType string
%  EndContainerType string
%  Name string
%EndEventDef
%EventDef PajeDefineEntityValue 6
%  Alias string
%  Type string
%  Name string
%  Color color
%EndEventDef
%EventDef PajeCreateContainer 7
%  Time date
%  Alias string
%  Type string
%  Container string
%  Name string
%EndEventDef
%EventDef PajeDestroyContainer 8
%  Time date
%  Name string
%  Type string
%EndEventDef
%EventDef PajeSetState 10
%  Time date
%  Type string
%  Container string
%  Value string
%  Task string
%EndEventDef
%EventDef PajeSetVariable 14
%  Time date
%  Type string
%  Container string
%  Value double
%EndEventDef
%EventDef PajeStartLink 18
%  Time date
%  Type string
%  Container string
%  StartContainer string
%  Value string
%  Key string
%EndEventDef
%EventDef PajeEndLink 19
%  Time date
%  Type string
%  Container string
%  EndContainer string
%  Value string
%  Key string
%EndEventDef
)";

/// A string of the format: quotes and line ends cannot be escaped in it.
std::string name(std::string text) {
  for (char& c : text)
    if (c == '"' || c == '\n' || c == '\r' || c == '\\') c = '\'';
  return "\"" + text + "\"";
}

/// Colours that differ in brightness too.
std::string colour(std::size_t i) {
  constexpr const char* all[] = {"0.000 0.447 0.698", "0.902 0.624 0.000", "0.000 0.620 0.451",
                                 "0.835 0.369 0.000", "0.800 0.475 0.655", "0.337 0.706 0.914",
                                 "0.941 0.894 0.259", "0.400 0.400 0.400"};
  return all[i % std::size(all)];
}

class PajeWriter {
 public:
  PajeWriter(const Trace& trace, const TaskGraph& graph, const Platform& platform)
      : trace_(trace), graph_(graph), platform_(platform) {}

  std::string run() {
    text_ = kDefinitions;
    define();
    create();
    for (const TaskEvent& e : trace_.tasks) state(e);
    for (std::size_t i = 0; i < trace_.transfers.size(); ++i) link(i);
    for (const MemorySample& s : trace_.memory)
      at(s.time, 1, fmt::format("14 {:.9f} V m{} {}", s.time, s.memory, s.bytes));
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
      return std::pair{a.time, a.order} < std::pair{b.time, b.order};
    });
    for (const Event& e : events_) text_ += e.line + "\n";
    destroy();
    return std::move(text_);
  }

 private:
  struct Event {
    double time;
    int order;  ///< at one time what ends comes before what begins
    std::string line;
  };
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void at(double time, int order, std::string text) { events_.push_back({time, order, std::move(text)}); }

  void define() {
    line(R"(1 P 0 "Platform")");
    line(R"(1 M P "Memory")");
    line(R"(1 W M "Worker")");
    line(R"(3 S W "Task")");
    line(R"(4 V M "Bytes used")");
    line(R"(5 L P M M "Transfer")");
    line(R"(6 idle S "idle" "0.900 0.900 0.900")");
    for (const CostClassInfo& c : graph_.classes)
      if (const auto [found, is_new] = codelets_.emplace(c.codelet, codelets_.size()); is_new)
        line(R"(6 c{} S {} "{}")", found->second, name(c.codelet), colour(found->second));
  }
  void create() {
    line("7 0 p P 0 {}", name(platform_.name));
    for (std::size_t m = 0; m < platform_.memories.size(); ++m)
      line("7 0 m{} M p {}", m, name(platform_.memories[m].name));
    for (std::size_t w = 0; w < platform_.workers.size(); ++w) {
      line("7 0 w{} W m{} {}", w, platform_.workers[w].memory, name(platform_.workers[w].name));
      line(R"(10 0 S w{} idle "")", w);
    }
  }
  void state(const TaskEvent& e) {
    at(e.end, 0, fmt::format(R"(10 {:.9f} S w{} idle "")", e.end, e.worker));
    at(e.start, 1,
       fmt::format("10 {:.9f} S w{} c{} {}", e.start, e.worker, codelets_[graph_.class_of(e.task).codelet],
                   name(graph_.task_name(e.task))));
  }
  /// A link's value needs no definition, and ViTE takes definitions for the values of states only.
  void link(std::size_t i) {
    const TransferEvent& e = trace_.transfers[i];
    const char* value = e.eviction ? "eviction" : "copy";
    at(e.start, 1, fmt::format("18 {:.9f} L p m{} {} t{}", e.start, e.from, value, i));
    at(e.end, 2, fmt::format("19 {:.9f} L p m{} {} t{}", e.end, e.to, value, i));
  }
  void destroy() {
    // a result's way home may end after the last task
    const double end = events_.empty() ? trace_.makespan : std::max(trace_.makespan, events_.back().time);
    for (std::size_t w = 0; w < platform_.workers.size(); ++w) line("8 {:.9f} w{} W", end, w);
    for (std::size_t m = 0; m < platform_.memories.size(); ++m) line("8 {:.9f} m{} M", end, m);
    line("8 {:.9f} p P", end);
  }

  const Trace& trace_;
  const TaskGraph& graph_;
  const Platform& platform_;
  std::map<std::string, std::size_t> codelets_;
  std::vector<Event> events_;
  std::string text_;
};

}  // namespace

std::string to_paje(const Trace& trace, const TaskGraph& graph, const Platform& platform) {
  return PajeWriter(trace, graph, platform).run();
}

}  // namespace espalier
