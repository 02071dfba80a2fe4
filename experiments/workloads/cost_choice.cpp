#include "experiments/workloads/cost_choice.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

}  // namespace

CostChoice::CostChoice(const std::string& text) : text_(text) {
  if (text == "roofline" || text == "given") return;
  if (text.empty() || text == "calibrated") calibrated_ = std::make_shared<CalibratedCosts>();
  if (text == "calibrated") return;
  fitted_ = std::make_shared<fitted::FittedCosts>(fitted::shipped_model());
  if (text.empty() || text == "fitted") return;
  if (!std::filesystem::exists(text))
    throw InputError(
        fmt::format("--costs {}: accepted are roofline, fitted, calibrated, given, or the path of a model "
                    "that `espalier fit-costs DATA.csv --out model.json` has written",
                    text));
  own_ = std::make_shared<fitted::FittedCosts>(std::make_shared<const fitted::FittedModel>(
      fitted::model_from_json(read_file(text, kMostBytes), text)));
}

std::vector<std::shared_ptr<const CostModel>> CostChoice::models(const std::string& graph) const {
  if (text_ == "given") throw InputError(fmt::format("--costs given: {} brings no times of its own", graph));
  std::vector<std::shared_ptr<const CostModel>> out;
  if (own_) out.push_back(own_);
  if (calibrated_) out.push_back(calibrated_);
  if (fitted_) out.push_back(fitted_);
  out.push_back(std::make_shared<RooflineModel>());
  return out;
}

std::shared_ptr<const fitted::FittedModel> CostChoice::all_reduces() const {
  return fitted_ ? fitted::shipped_model() : nullptr;
}

void CostChoice::require_given(const std::string& graph) const {
  if (!text_.empty() && text_ != "given")
    throw InputError(fmt::format("--costs {}: {} brings its own times; accepted is given", text_, graph));
}

void CostChoice::require(const Platform& platform) const {
  const auto any = [&](auto serves) {
    return std::any_of(platform.kinds.begin(), platform.kinds.end(), serves);
  };
  if (text_ == "calibrated") {
    if (!any(CalibratedCosts::serves))
      throw InputError(fmt::format(
          "--costs calibrated: these are of this machine, --platform local, not of {}", platform.name));
    if (calibrated_->size() == 0)
      throw InputError(
          "--costs calibrated: this machine is not calibrated yet; `espalier calibrate GRAPH` does it");
    return;
  }
  const auto& source = own_ ? own_ : fitted_;
  if (!own_ && text_ != "fitted") return;
  if (any([&](const DeviceKind& k) { return source->serves(k); })) return;
  std::vector<std::string> kinds;
  for (const DeviceKind& k : platform.kinds) kinds.push_back(k.name);
  throw InputError(fmt::format(
      "--costs {}: none of the kinds of platform {} ({}) is one of its devices ({}); a kind's `costs: "
      "DEVICE/PRECISION` says which it is",
      text_, platform.name, fmt::join(kinds, ", "), fmt::join(source->devices(), ", ")));
}

}  // namespace espalier
