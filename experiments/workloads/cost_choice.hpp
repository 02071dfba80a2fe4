#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/calibrate/calibrated_costs.hpp"
#include "runtime/perfmodel/fitted/fitted_costs.hpp"

namespace espalier {

/// What the command line's --costs says: where the costs of a graph without times of its own come from.
///
/// | text | asked in order |
/// | --- | --- |
/// | (empty) | times measured here, for this machine's cores; fitted models shipped; a roofline |
/// | roofline | a roofline alone |
/// | fitted | fitted models shipped, which must serve a kind of the platform; a roofline for the rest |
/// | calibrated | times measured here, which must be there; a roofline for the rest |
/// | FILE.json | a model of `espalier fit-costs --out`, which must serve a kind; then as fitted |
/// | given | the graph's own times, which must be there |
class CostChoice {
 public:
  static constexpr std::string_view kHelp =
      "where times come from: roofline, fitted, calibrated, given, or a model of fit-costs (default: the "
      "best "
      "that there is)";

  CostChoice() = default;
  /// InputError for a text that is none of these.
  explicit CostChoice(const std::string& text);

  /// For a graph without times of its own. InputError for --costs given.
  std::vector<std::shared_ptr<const CostModel>> models(const std::string& graph) const;
  /// Fitted collectives; null where no fitted costs were asked for.
  std::shared_ptr<const fitted::FittedModel> all_reduces() const;
  /// InputError when a graph that has times was asked for with other costs.
  void require_given(const std::string& graph) const;
  /// InputError when what was asked for serves no kind of the platform.
  void require(const Platform& platform) const;

 private:
  std::string text_;
  std::shared_ptr<const fitted::FittedCosts> fitted_, own_;  ///< shipped; of a file
  std::shared_ptr<const CalibratedCosts> calibrated_;
};

}  // namespace espalier
