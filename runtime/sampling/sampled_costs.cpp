#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/sampling/performance_model.hpp"
#include "runtime/sampling/sampled_machine.hpp"

namespace espalier::sampling {
namespace {

namespace fs = std::filesystem;

/// A performance model that may hold a codelet's times.
struct Candidate {
  std::string symbol;
  double factor = 1;        ///< of the time
  double bytes_factor = 1;  ///< of the size of a task's data there
};

/// LU's models are named after the precision and the library of the kernels.
void add_lu(std::vector<Candidate>& out, const CostClassInfo& what, const char* kernel) {
  const char precision = what.signature.find("bytes=8") != std::string::npos ? 'd' : 's';
  for (const char* library : {"", "_openblas", "_atlas", "_goto"})
    out.push_back({fmt::format("starpu_{}lu_lu_model_{}{}", precision, kernel, library)});
}

std::vector<Candidate> candidates(const CostClassInfo& what) {
  std::vector<Candidate> out{{what.codelet}, {"espalier_" + what.codelet}};
  if (what.codelet == "chol_model_potrf") out.push_back({"chol_model_11"});
  if (what.codelet == "chol_model_trsm") out.push_back({"chol_model_21"});
  if (what.codelet == "chol_model_gemm") out.push_back({"chol_model_22"});
  if (what.codelet == "chol_model_syrk") out.push_back({"chol_model_22", 0.5, 1.5});
  if (what.codelet == "lu_model_getrf") add_lu(out, what, "11");
  if (what.codelet == "lu_model_trsm_ll") add_lu(out, what, "12");
  if (what.codelet == "lu_model_trsm_ru") add_lu(out, what, "21");
  if (what.codelet == "lu_model_gemm") add_lu(out, what, "22");
  return out;
}

/// Bytes that StarPU's footprint stands for: each datum of a task once.
double task_bytes(const TaskGraph& graph, TaskId t) {
  double bytes = 0;
  for (const Access& a : graph.accesses(t)) bytes += static_cast<double>(graph.data(a.data).size.value);
  return bytes;
}

class Models {
 public:
  explicit Models(const SampledMachine& machine) : machine_(machine) {}
  fs::path path_of(const std::string& symbol) const {
    return machine_.folder / "codelets" / std::to_string(kModelVersion) /
           fmt::format("{}.{}", symbol, machine_.host);
  }
  /// Null where there is no such file.
  const PerformanceModel* find(const std::string& symbol) {
    const auto [it, added] = models_.try_emplace(symbol);
    if (added) {
      const fs::path path = path_of(symbol);
      if (symbol.find('/') == std::string::npos && fs::is_regular_file(path))
        it->second = read_performance_model(read_file(path, std::size_t{64} << 20), path.string());
    }
    return it->second ? &*it->second : nullptr;
  }

 private:
  const SampledMachine& machine_;
  std::map<std::string, std::optional<PerformanceModel>> models_;
};

bool is_for(const ArchModel& arch, const DeviceKind& kind, int device) {
  if (arch.cores > 1) return false;
  if (kind.type == DeviceType::cpu) return arch.type == ArchType::cpu;
  return arch.type == ArchType::cuda && arch.device == device;
}

/// Seconds of a task of this size; the fastest implementation counts.
std::optional<double> time_of(const PerformanceModel& model, const DeviceKind& kind, int device,
                              double bytes) {
  std::optional<double> best;
  for (const ArchModel& arch : model.archs) {
    if (!is_for(arch, kind, device)) continue;
    for (const Measurement& m : arch.measurements)
      if (m.count > 0 && std::abs(m.bytes - bytes) < 0.5) best = std::min(best.value_or(m.mean), m.mean);
  }
  if (best) *best *= 1e-6;
  return best;
}

}  // namespace

SampledCosts::SampledCosts(const SampledMachine& machine, const TaskGraph& graph) {
  const Platform& platform = machine.platform;
  for (const DeviceKind& k : platform.kinds) kinds_.push_back(k.name);
  std::vector<TaskId> example(graph.classes.size(), kNoTask);
  for (TaskId t = 0; t < graph.task_count(); ++t)
    if (example[graph.task(t).cost_class] == kNoTask) example[graph.task(t).cost_class] = t;
  std::vector<char> used(platform.kinds.size(), 0);
  for (const Worker& w : platform.workers) used[w.kind] = 1;
  Models models(machine);
  for (CostClass c = 0; c < graph.classes.size(); ++c) {
    if (example[c] == kNoTask) continue;
    const CostClassInfo& what = graph.classes[c];
    const double bytes = task_bytes(graph, example[c]);
    std::vector<std::optional<double>> row(platform.kinds.size());
    std::string there;
    bool found = false;
    for (const Candidate& candidate : candidates(what)) {
      const PerformanceModel* model = models.find(candidate.symbol);
      if (model == nullptr) continue;
      int device = -1;
      for (KindId k = 0; k < platform.kinds.size(); ++k) {
        if (platform.kinds[k].type == DeviceType::cuda) ++device;
        row[k] = time_of(*model, platform.kinds[k], device, bytes * candidate.bytes_factor);
        if (row[k]) *row[k] *= candidate.factor;
        found = found || (row[k].has_value() && used[k] != 0);
      }
      if (found) break;
      std::set<double> sizes;
      for (const ArchModel& a : model->archs)
        for (const Measurement& m : a.measurements) sizes.insert(m.bytes);
      there += fmt::format("; {} has the sizes {}", candidate.symbol, fmt::join(sizes, ", "));
    }
    if (!found)
      throw InputError(
          fmt::format("platform {}: no device has a cost for codelet {} ({}; {:.0f} bytes of data): {} has "
                      "no performance "
                      "model of it for this size{}",
                      machine.host, what.codelet, what.signature, bytes,
                      (machine.folder / "codelets/45").string(), there));
    for (KindId k = 0; k < row.size(); ++k)
      if (!row[k] && used[k] != 0)
        warnings_.push_back(
            fmt::format("platform {}: device {} has no cost for codelet {} ({}): it does not run it",
                        machine.host, kinds_[k], what.codelet, what.signature));
    seconds_[what.footprint] = std::move(row);
  }
}

std::optional<CostModel::Estimate> SampledCosts::estimate(const CostClassInfo& what,
                                                          const DeviceKind& kind) const {
  const auto row = seconds_.find(what.footprint);
  const auto name = std::find(kinds_.begin(), kinds_.end(), kind.name);
  if (row == seconds_.end() || name == kinds_.end()) return std::nullopt;
  const auto& seconds = row->second[static_cast<std::size_t>(name - kinds_.begin())];
  if (!seconds) return std::nullopt;
  return Estimate{Seconds(*seconds), CostSource::measured_elsewhere};
}

}  // namespace espalier::sampling
