#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/platform/platform.hpp"

namespace espalier::fitted {

/// Whose measured costs a kind of device has.
struct DeviceMatch {
  std::string device;  ///< "NV_V100/fp32"
  bool scaled = false;
  /// Published peaks of the kind over those of `device`; 1 when not scaled.
  double flops_ratio = 1, bandwidth_ratio = 1;
  double published_flops = 0, published_bandwidth = 0;  ///< of `device`; 0: not known
};

/// The kind's `costs` or `scaled_costs`; else by its name: the words between dashes, from the left, that are
/// the device's without its maker ("v100-pcie" is NV_V100, "titan-x-pascal" NV_TitanX_Pascal), precision
/// fp32; else a newer GPU (a100, h100, ...) is scaled from NV_V100/fp32 where the kind has peaks. nullopt for
/// all others. InputError when the platform names a device that is not among `devices`, or one to scale from
/// whose published peaks are not known.
std::optional<DeviceMatch> match_device(const DeviceKind& kind, const std::vector<std::string>& devices);

}  // namespace espalier::fitted
