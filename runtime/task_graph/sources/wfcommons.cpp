#include <algorithm>
#include <unordered_map>

#include "runtime/task_graph/sources/json_fields.hpp"
#include "runtime/task_graph/sources/weighted_dag.hpp"

/// Workflow instances in WfCommons' WfFormat. From schema 1.5 on, workflow.specification holds tasks and
/// files and workflow.execution the measured times; up to 1.4, workflow.tasks holds all of it. Times are for
/// CPUs.
namespace espalier {
namespace {

using nlohmann::json;

constexpr double kMostSeconds = 1e12, kMostBytes = 1e15;
constexpr std::size_t kMostTasks = 10'000'000;

struct FileUse {
  std::uint32_t task;
  std::string file;
  bool writes;
};

class Workflow {
 public:
  Workflow(std::string_view text, const std::string& name) : name_(name), fields_(name) {
    const json root = fields_.parse(text);
    const json& workflow = fields_.need(root, "workflow", "the file");
    const json* specification = fields_.find(workflow, "specification");
    read_tasks(specification != nullptr ? *specification : workflow);
    if (specification != nullptr) {
      read_sizes(*specification);
      read_times(workflow);
    }
    for (std::size_t t = 0; t < ids_.size(); ++t)
      if (seconds_[t] < 0)
        fields_.refuse(fmt::format("task {} has no runtimeInSeconds, which a schedule needs", ids_[t]));
  }

  LoadedTaskGraph build() const {
    std::vector<source::Edge> edges = dependencies_;
    std::unordered_map<std::string, std::uint32_t> writer;
    for (const FileUse& u : uses_)
      if (u.writes && !writer.try_emplace(u.file, u.task).second && writer[u.file] != u.task)
        fields_.refuse(fmt::format("file {} is the output of two tasks, {} and {}", u.file,
                                   ids_[writer[u.file]], ids_[u.task]));
    for (const FileUse& u : uses_)
      if (const auto w = writer.find(u.file); !u.writes && w != writer.end() && w->second != u.task)
        edges.emplace_back(w->second, u.task);
    const auto order = source::topological_order(ids_.size(), edges, ids_, name_);
    return emit(order);
  }

 private:
  void read_tasks(const json& parent) {
    const json& tasks = fields_.list(parent, "tasks", "the workflow");
    if (tasks.empty() || tasks.size() > kMostTasks) fields_.refuse("the workflow has no task, or too many");
    for (const json& t : tasks) {
      const json* id = fields_.find(t, "id");
      ids_.push_back(id != nullptr ? fields_.id(*id, "id of a task")
                                   : fields_.id(fields_.need(t, "name", "a task"), "name of a task"));
      const auto number = static_cast<std::uint32_t>(ids_.size() - 1);
      if (!index_.try_emplace(ids_.back(), number).second)
        fields_.refuse(fmt::format("task {} is there twice", ids_.back()));
      const json* kind = fields_.find(t, "category");
      if (kind == nullptr) kind = fields_.find(t, "name");
      kinds_.push_back(kind != nullptr ? fields_.id(*kind, "name of a task") : ids_.back());
      const json* time = fields_.find(t, "runtimeInSeconds");
      if (time == nullptr) time = fields_.find(t, "runtime");
      seconds_.push_back(
          time != nullptr ? fields_.number(*time, "runtime of task " + ids_.back(), kMostSeconds) : -1);
      read_files(t, number);
    }
    for (std::uint32_t i = 0; i < tasks.size(); ++i)
      if (const json* name = fields_.find(tasks[i], "name"); name != nullptr && name->is_string())
        index_.try_emplace(name->get<std::string>(), i);  // older files name parents by name
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      for_each(tasks[i], "parents", [&](const json& p) { dependencies_.emplace_back(task(p, i), i); });
      for_each(tasks[i], "children", [&](const json& c) { dependencies_.emplace_back(i, task(c, i)); });
    }
  }

  template <class F>
  void for_each(const json& object, const char* key, F&& f) const {
    const json* list = fields_.find(object, key);
    if (list == nullptr) return;
    if (!list->is_array()) fields_.refuse(fmt::format("\"{}\" of a task is no list", key));
    for (const json& item : *list) f(item);
  }

  std::uint32_t task(const json& value, std::uint32_t by) const {
    const std::string id = fields_.id(value, "parent or child");
    const auto it = index_.find(id);
    if (it == index_.end())
      fields_.refuse(fmt::format("task {} names task {}, which does not exist", ids_[by], id));
    return it->second;
  }

  void read_files(const json& t, std::uint32_t number) {
    for_each(t, "inputFiles", [&](const json& f) {
      uses_.push_back({number, fields_.id(f, "inputFiles"), false});
    });
    for_each(t, "outputFiles", [&](const json& f) {
      uses_.push_back({number, fields_.id(f, "outputFiles"), true});
    });
    for_each(t, "files", [&](const json& f) {  // up to 1.4
      const json* id = fields_.find(f, "id");
      if (id == nullptr) id = fields_.find(f, "name");
      if (id == nullptr) fields_.refuse(fmt::format("a file of task {} has no name", ids_[number]));
      const std::string file = fields_.id(*id, "name of a file");
      const std::string link = fields_.id(fields_.need(f, "link", "a file of task " + ids_[number]), "link");
      if (link != "input" && link != "output")
        fields_.refuse(fmt::format("link \"{}\" of file {}: input or output was expected", link, file));
      uses_.push_back({number, file, link == "output"});
      size(f, file);
    });
  }

  void size(const json& f, const std::string& file) {
    const json* bytes = fields_.find(f, "sizeInBytes");
    if (bytes == nullptr) bytes = fields_.find(f, "size");
    if (bytes != nullptr)
      sizes_[file] = std::llround(fields_.number(*bytes, "size of file " + file, kMostBytes));
  }

  void read_sizes(const json& specification) {
    for_each(specification, "files",
             [&](const json& f) { size(f, fields_.id(fields_.need(f, "id", "a file"), "id of a file")); });
  }

  void read_times(const json& workflow) {
    const json& execution =
        fields_.need(workflow, "execution", "the workflow (which holds the measured times)");
    for (const json& t : fields_.list(execution, "tasks", "the execution")) {
      const std::string id = fields_.id(fields_.need(t, "id", "a task of the execution"), "id of a task");
      const auto it = index_.find(id);
      if (it == index_.end())
        fields_.refuse(fmt::format("the execution names task {}, which is not specified", id));
      seconds_[it->second] = fields_.number(fields_.need(t, "runtimeInSeconds", "task " + id),
                                            "runtimeInSeconds of task " + id, kMostSeconds);
    }
  }

  LoadedTaskGraph emit(const std::vector<std::uint32_t>& order) const {
    TaskGraphBuilder builder;
    builder.graph().name = name_;
    auto given = std::make_shared<GivenCosts>();
    std::unordered_map<std::string, DataId> data;
    std::vector<std::vector<Access>> accesses(ids_.size());
    for (const FileUse& u : uses_) {
      const auto bytes = sizes_.find(u.file);
      if (bytes == sizes_.end() || bytes->second == 0) continue;
      const auto [it, is_new] = data.try_emplace(u.file, 0);
      if (is_new) it->second = builder.add_data({Bytes(bytes->second)});
      accesses[u.task].push_back({it->second, u.writes ? AccessMode::write : AccessMode::read});
    }
    std::vector<std::uint32_t> position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (const auto& [a, b] : dependencies_) builder.add_dependency(position[a], position[b]);
    for (const std::uint32_t t : order) {
      const CostClass c =
          builder.add_class({kinds_[t], fmt::format("{} s", seconds_[t]), Flops(0), Bytes(0), 0});
      given->set(builder.graph().classes[c], {seconds_[t], GivenCosts::kUnknown});
      Task task;
      task.cost_class = c;
      builder.add_task(task, accesses[t], ids_[t]);
    }
    for (const FileUse& u : uses_)  // an empty file still orders its tasks
      if (!u.writes)
        for (const FileUse& w : writers_of_empty(u.file))
          if (w.task != u.task) builder.add_dependency(position[w.task], position[u.task]);
    return {builder.build(), given};
  }

  std::vector<FileUse> writers_of_empty(const std::string& file) const {
    const auto bytes = sizes_.find(file);
    if (bytes != sizes_.end() && bytes->second != 0) return {};
    if (!empty_indexed_) {
      for (const FileUse& u : uses_)
        if (u.writes) empty_writers_[u.file].push_back(u);
      empty_indexed_ = true;
    }
    const auto it = empty_writers_.find(file);
    return it == empty_writers_.end() ? std::vector<FileUse>{} : it->second;
  }

  const std::string& name_;
  source::JsonFields fields_;
  std::vector<std::string> ids_, kinds_;
  std::vector<double> seconds_;
  std::vector<source::Edge> dependencies_;
  std::vector<FileUse> uses_;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::unordered_map<std::string, std::int64_t> sizes_;
  mutable std::unordered_map<std::string, std::vector<FileUse>> empty_writers_;
  mutable bool empty_indexed_ = false;
};

}  // namespace

LoadedTaskGraph read_wfcommons(std::string_view text, const std::string& name) {
  return Workflow(text, name).build();
}

}  // namespace espalier
