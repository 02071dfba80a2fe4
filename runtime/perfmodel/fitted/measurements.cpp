#include "runtime/perfmodel/fitted/measurements.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/task_graph/sources/text.hpp"

namespace espalier::fitted {
namespace {

constexpr std::size_t kMostRows = 1'000'000;
constexpr double kLongestMs = 1e9;  // eleven days
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(',', begin);
    std::string_view cell = source::trimmed(line.substr(begin, end - begin));
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
    cells.push_back(cell);
    if (end == std::string_view::npos) return cells;
    begin = end + 1;
  }
}

struct TimeColumn {
  KernelKind kind;
  std::string_view column;
};
constexpr TimeColumn kTimeColumns[] = {{KernelKind::conv_forward, "fwd_ms"},
                                       {KernelKind::conv_backward_input, "bwd_input_ms"},
                                       {KernelKind::conv_backward_weight, "bwd_weight_ms"},
                                       {KernelKind::gemm, "ms"},
                                       {KernelKind::recurrent_forward, "fwd_ms"},
                                       {KernelKind::recurrent_backward, "bwd_ms"}};

constexpr const char* kAccepted =
    "accepted are device,precision with W,H,C,N,K,R_h,S_w,pad_h,pad_w,stride_h,stride_w and "
    "fwd_ms,bwd_input_ms,bwd_weight_ms (convolution); M,N,K,transA,transB and ms (matrix product); "
    "kind,hidden,batch,timesteps and fwd_ms,bwd_ms (recurrent); or size,count,type,time (all-reduce)";

/// "time(ns)" is time.
std::string_view without_unit(std::string_view cell) {
  return source::trimmed(cell.substr(0, cell.find('(')));
}

bool is_blank(std::string_view line) {
  return source::trimmed(line).empty() || source::trimmed(line).front() == '#';
}

double parameter(std::string_view cell, std::string_view column, const std::string& name, std::size_t line) {
  if (column == "transA" || column == "transB") {
    if (cell == "N" || cell == "n" || cell == "0") return 0;
    if (cell == "T" || cell == "t" || cell == "1") return 1;
    source::fail(name, line, fmt::format("{} is \"{}\": accepted are N and T", column, source::shown(cell)));
  }
  if (column == "kind") {
    std::string lower(cell);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (lower == "vanilla" || lower == "rnn") return 0;
    if (lower == "lstm") return 1;
    if (lower == "gru") return 2;
    source::fail(name, line,
                 fmt::format("kind is \"{}\": accepted are Vanilla, LSTM and GRU", source::shown(cell)));
  }
  return static_cast<double>(source::count(cell, name, line, std::string(column).c_str(), 100'000'000));
}

/// Milliseconds, NaN where the cell is empty.
double milliseconds(std::string_view cell, std::string_view column, const std::string& name,
                    std::size_t line) {
  if (cell.empty() || cell == "nan" || cell == "NaN") return kNan;
  const double ms = source::number(cell, name, line, std::string(column).c_str(), kLongestMs);
  if (ms < 1e-7)
    source::fail(name, line, fmt::format("{} is {} ms: a time is greater than 0, or empty", column, ms));
  return ms;
}

int devices_in(const std::string& system, const std::string& name) {
  const std::size_t end = system.rfind("gpu");
  std::size_t begin = end == std::string::npos ? 0 : end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(system[begin - 1])) != 0) --begin;
  int n = 0;
  if (end != std::string::npos) std::from_chars(system.data() + begin, system.data() + end, n);
  if (n < 2 || n > 1'000'000)
    throw InputError(fmt::format(
        "{}: an all-reduce file names its number of devices, as v100_8gpu.csv does; 2 at least", name));
  return n;
}

}  // namespace

struct MeasurementReader::Header {
  struct Target {
    KernelKind kind;
    std::size_t column;
  };
  std::vector<std::string_view> cells;
  std::size_t device = 0, precision = 0;
  std::vector<std::size_t> parameters;  ///< columns
  std::vector<Target> targets;

  Header(std::string_view line, const std::string& name, std::size_t at) : cells(cells_of(line)) {
    // the family whose every parameter has a column; recurrent and convolution share "fwd_ms" alone
    for (const KernelKind first :
         {KernelKind::conv_forward, KernelKind::gemm, KernelKind::recurrent_forward}) {
      const auto needed = parameter_names(first);
      if (!std::all_of(needed.begin(), needed.end(), [&](std::string_view c) { return find(c) >= 0; }))
        continue;
      for (const std::string_view c : needed) parameters.push_back(static_cast<std::size_t>(find(c)));
      for (const TimeColumn& t : kTimeColumns)
        if (parameter_names(t.kind).data() == needed.data() && find(t.column) >= 0)
          targets.push_back({t.kind, static_cast<std::size_t>(find(t.column))});
      break;
    }
    std::string shown(source::shown(line));
    if (parameters.empty())
      source::fail(name, at, fmt::format("the header \"{}\" is of no known kind: {}", shown, kAccepted));
    if (targets.empty())
      source::fail(name, at, fmt::format("the header \"{}\" has no column of times: {}", shown, kAccepted));
    for (const std::string_view c : {"device", "precision"})
      if (find(c) < 0) source::fail(name, at, fmt::format("there is no column \"{}\": {}", c, kAccepted));
    device = static_cast<std::size_t>(find("device"));
    precision = static_cast<std::size_t>(find("precision"));
  }

  std::ptrdiff_t find(std::string_view column) const {
    const auto it = std::find(cells.begin(), cells.end(), column);
    return it == cells.end() ? -1 : it - cells.begin();
  }
};

KernelTimes KernelTimes::subset(const std::vector<std::size_t>& which) const {
  KernelTimes out{kind, {}, devices, {}};
  for (const std::size_t p : which) {
    out.problems.push_back(problems[p]);
    for (std::size_t d = 0; d < devices.size(); ++d) out.log_seconds.push_back(at(p, d));
  }
  return out;
}

void MeasurementReader::add_kernel_rows(const Header& header, std::string_view line, const std::string& name,
                                        std::size_t at) {
  const auto cells = cells_of(line);
  if (cells.size() != header.cells.size())
    source::fail(name, at, fmt::format("{} cells, the header has {}", cells.size(), header.cells.size()));
  if (cells[header.device].empty() || cells[header.precision].empty())
    source::fail(name, at, "the device or the precision is empty");
  const KernelKind family = header.targets[0].kind;
  const auto names = parameter_names(family);
  Problem problem;
  for (std::size_t i = 0; i < names.size(); ++i)
    problem.push_back(parameter(cells[header.parameters[i]], names[i], name, at));
  if (!is_possible(family, problem))
    source::fail(
        name, at,
        fmt::format("{} has no output: extents of at least 1 are needed, and a filter no larger than "
                    "the padded input",
                    to_text(family, problem)));
  const std::string device = fmt::format("{}/{}", cells[header.device], cells[header.precision]);
  for (const auto& [kind, column] : header.targets) {
    const double ms = milliseconds(cells[column], header.cells[column], name, at);
    if (std::isnan(ms)) continue;
    rows_[static_cast<std::size_t>(kind)].push_back({device, problem, std::log(ms / 1000)});
  }
}

void MeasurementReader::add_all_reduce(std::string_view csv, const std::string& name) {
  AllReduceTimes file;
  file.system = std::filesystem::path(name).stem().string();
  file.devices = devices_in(file.system, name);
  const auto lines = source::lines_of(csv);
  bool header = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    if (header) {
      header = false;
      continue;
    }
    const auto cells = cells_of(lines[i]);
    if (cells.size() < 4)
      source::fail(name, i + 1, fmt::format("{} cells, at least 4 are needed", cells.size()));
    const double bytes = source::number(cells[0], name, i + 1, "size", 1e15);
    if (cells[3].empty()) continue;
    const double ns = source::number(cells[3], name, i + 1, "time", 1e15);
    if (bytes < 1 || ns <= 0) source::fail(name, i + 1, "size and time must be greater than 0");
    file.times.push_back({bytes, ns * 1e-9});
  }
  if (file.times.size() < 2)
    throw InputError(
        fmt::format("{}: {} measured sizes; a line needs at least two", name, file.times.size()));
  all_reduces_.push_back(std::move(file));
}

void MeasurementReader::add(std::string_view csv, const std::string& name) {
  if (csv.starts_with("\xef\xbb\xbf")) csv.remove_prefix(3);
  const auto lines = source::lines_of(csv);
  std::size_t first = 0;
  while (first < lines.size() && is_blank(lines[first])) ++first;
  if (first == lines.size()) throw InputError(fmt::format("{}: the file is empty; {}", name, kAccepted));
  if (lines.size() > kMostRows)
    throw InputError(fmt::format("{}: {} lines, at most {} are accepted", name, lines.size(), kMostRows));
  const auto cells = cells_of(lines[first]);
  if (cells.size() >= 4 && without_unit(cells[0]) == "size" && without_unit(cells[3]) == "time")
    return add_all_reduce(csv, name);
  const Header header(lines[first], name, first + 1);
  std::size_t rows = 0;
  for (std::size_t i = first + 1; i < lines.size(); ++i) {
    if (is_blank(lines[i])) continue;
    add_kernel_rows(header, lines[i], name, i + 1);
    ++rows;
  }
  if (rows == 0) throw InputError(fmt::format("{}: a header and no rows", name));
}

Measurements MeasurementReader::finish() const {
  Measurements all;
  all.all_reduces = all_reduces_;
  for (const KernelKind kind : kAllKernels) {
    std::map<Problem, std::size_t> problems;
    std::map<std::string, std::size_t> devices;
    const auto& rows = rows_[static_cast<std::size_t>(kind)];
    if (rows.empty()) continue;
    for (const Row& r : rows) {
      problems.try_emplace(r.problem, 0);
      devices.try_emplace(r.device, 0);
    }
    if (problems.size() * devices.size() > 10 * kMostRows)
      throw InputError(fmt::format("{}: {} problems on {} devices are too many", name_of(kind),
                                   problems.size(), devices.size()));
    KernelTimes times;
    times.kind = kind;
    for (auto& [p, index] : problems) {
      index = times.problems.size();
      times.problems.push_back(p);
    }
    for (auto& [d, index] : devices) {
      index = times.devices.size();
      times.devices.push_back(d);
    }
    std::vector<double> sum(problems.size() * devices.size(), 0), count(sum.size(), 0);
    for (const Row& r : rows) {
      const std::size_t cell = problems.at(r.problem) * devices.size() + devices.at(r.device);
      sum[cell] += r.log_seconds;
      count[cell] += 1;
    }
    for (std::size_t i = 0; i < sum.size(); ++i)
      times.log_seconds.push_back(count[i] > 0 ? sum[i] / count[i] : kNan);
    all.kernels.push_back(std::move(times));
  }
  if (all.kernels.empty() && all.all_reduces.empty()) throw InputError("no measured time in the files given");
  return all;
}

Measurements read_measurements(const std::vector<std::string>& files) {
  MeasurementReader reader;
  for (const std::string& f : files) reader.add(read_file(f, std::size_t{1} << 28), f);
  return reader.finish();
}

}  // namespace espalier::fitted
