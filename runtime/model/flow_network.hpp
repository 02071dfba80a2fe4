#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/platform/platform.hpp"

namespace espalier::model {

using FlowId = std::uint32_t;

/// Rates of the transfers under way: max-min fair over the shared links (progressive filling; Bertsekas and
/// Gallager, Data Networks, section 6.5.2). A link that is not shared only caps each of its flows. When flows
/// start or end, only the flows that share a link with them, directly or through others, are computed anew.
class FlowNetwork {
 public:
  explicit FlowNetwork(const Platform& platform);

  /// Flow ids are the caller's, small and reused; the route must outlive the flow and hold a shared link.
  void start(FlowId flow, std::span<const LinkId> route, double bytes, double now);
  void finish(FlowId flow);

  struct Change {
    FlowId flow;
    double end;             ///< when it is through at its new rate
    std::uint32_t version;  ///< older ends of this flow are void
  };
  /// Brings the rates up to date after starts and finishes at `now`; the flows whose rate changed.
  std::span<const Change> settle(double now);

  double rate(FlowId flow) const { return flows_[flow].rate; }
  std::uint32_t version(FlowId flow) const { return flows_[flow].version; }

 private:
  struct Flow {
    std::span<const LinkId> route;
    double remaining = 0, rate = 0, updated = 0;
    double cap = 0;  ///< of the links that are not shared
    std::uint32_t version = 0;
    std::uint32_t seen = 0;  ///< stamp of the last component that held it
    double next_rate = 0;
  };
  struct LinkState {
    double bandwidth = 0;
    bool shared = true;
    bool dirty = false;
    std::vector<FlowId> flows;
    std::uint32_t seen = 0;
    double left = 0;         ///< bandwidth not given out yet
    std::uint32_t open = 0;  ///< flows without a rate yet
  };

  void collect(LinkId first);
  void fill();
  void give(FlowId flow, double rate);

  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<LinkId> dirty_, component_links_;
  std::vector<FlowId> component_flows_;
  std::vector<Change> changes_;
  std::uint32_t stamp_ = 0;
};

}  // namespace espalier::model
