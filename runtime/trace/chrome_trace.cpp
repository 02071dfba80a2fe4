#include "runtime/trace/chrome_trace.hpp"

#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace espalier {
namespace {

constexpr int kWorkers = 1, kTransfers = 2, kMemories = 3;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer {
 public:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    text_ += text_.empty() ? "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" : ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void name(int process, int thread, const char* what, const std::string& value) {
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", process, thread, what,
          quoted(value));
  }
  std::string finish() { return std::move(text_) + "\n]}\n"; }

 private:
  std::string text_;
};

}  // namespace

std::string to_chrome_trace(const Trace& trace, const TaskGraph& graph, const Platform& platform) {
  Writer w;
  w.name(kWorkers, 0, "process_name", "workers");
  for (std::size_t i = 0; i < platform.workers.size(); ++i)
    w.name(kWorkers, static_cast<int>(i), "thread_name", platform.workers[i].name);
  for (const TaskEvent& e : trace.tasks)
    w.event(
        R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":{},"args":{{"task":{},"ready":{:.3f},"memory_ready":{:.3f},"data_ready":{:.3f}}}}})",
        kWorkers, e.worker, e.start * 1e6, (e.end - e.start) * 1e6, quoted(graph.task_name(e.task)),
        quoted(graph.class_of(e.task).codelet), e.task, e.ready * 1e6, e.memory_ready * 1e6,
        e.data_ready * 1e6);
  std::map<std::pair<MemoryId, MemoryId>, int> lanes;
  for (const TransferEvent& e : trace.transfers) lanes.emplace(std::pair{e.from, e.to}, 0);
  if (!lanes.empty()) w.name(kTransfers, 0, "process_name", "transfers");
  int lane = 0;
  for (auto& [pair, id] : lanes) {
    id = lane++;
    w.name(kTransfers, id, "thread_name",
           fmt::format("{} -> {}", platform.memories[pair.first].name, platform.memories[pair.second].name));
  }
  for (const TransferEvent& e : trace.transfers)
    w.event(R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":"{} {}","args":{{"bytes":{}}}}})",
            kTransfers, lanes[{e.from, e.to}], e.start * 1e6, (e.end - e.start) * 1e6,
            e.eviction ? "evict" : "data", e.data, graph.data(e.data).size.value);
  for (const MemorySample& s : trace.memory)
    w.event(R"({{"ph":"C","pid":{},"ts":{:.3f},"name":{},"args":{{"bytes":{}}}}})", kMemories, s.time * 1e6,
            quoted(platform.memories[s.memory].name), s.bytes);
  return w.finish();
}

}  // namespace espalier
