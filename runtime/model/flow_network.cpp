#include "runtime/model/flow_network.hpp"

#include <algorithm>
#include <limits>

namespace espalier::model {

FlowNetwork::FlowNetwork(const Platform& platform) : links_(platform.links.size()) {
  for (std::size_t l = 0; l < links_.size(); ++l) {
    links_[l].bandwidth = platform.links[l].bandwidth;
    links_[l].shared = platform.links[l].shared;
  }
}

void FlowNetwork::start(FlowId flow, std::span<const LinkId> route, double bytes, double now) {
  if (flow >= flows_.size()) flows_.resize(flow + 1);
  Flow& f = flows_[flow];
  f.route = route;
  f.remaining = bytes;
  f.rate = 0;
  f.updated = now;
  f.cap = std::numeric_limits<double>::infinity();
  ++f.version;
  for (const LinkId l : route) {
    LinkState& link = links_[l];
    if (!link.shared) {
      f.cap = std::min(f.cap, link.bandwidth);
      continue;
    }
    link.flows.push_back(flow);
    if (!link.dirty) dirty_.push_back(l);
    link.dirty = true;
  }
}

void FlowNetwork::finish(FlowId flow) {
  Flow& f = flows_[flow];
  ++f.version;
  for (const LinkId l : f.route) {
    LinkState& link = links_[l];
    if (!link.shared) continue;
    const auto it = std::find(link.flows.begin(), link.flows.end(), flow);
    *it = link.flows.back();
    link.flows.pop_back();
    if (!link.dirty) dirty_.push_back(l);
    link.dirty = true;
  }
  f.route = {};
}

/// The links and flows connected with a link.
void FlowNetwork::collect(LinkId first) {
  component_links_.assign(1, first);
  component_flows_.clear();
  links_[first].seen = stamp_;
  for (std::size_t i = 0; i < component_links_.size(); ++i)
    for (const FlowId id : links_[component_links_[i]].flows) {
      Flow& f = flows_[id];
      if (f.seen == stamp_) continue;
      f.seen = stamp_;
      component_flows_.push_back(id);
      for (const LinkId l : f.route)
        if (links_[l].shared && links_[l].seen != stamp_) {
          links_[l].seen = stamp_;
          component_links_.push_back(l);
        }
    }
}

void FlowNetwork::give(FlowId id, double rate) {
  Flow& f = flows_[id];
  f.next_rate = rate;
  for (const LinkId l : f.route) {
    LinkState& link = links_[l];
    if (!link.shared) continue;
    link.left = std::max(0.0, link.left - rate);
    --link.open;
  }
}

/// Raises all rates together; whoever meets a full link or its own cap stays there.
void FlowNetwork::fill() {
  for (const LinkId l : component_links_) {
    links_[l].left = links_[l].bandwidth;
    links_[l].open = static_cast<std::uint32_t>(links_[l].flows.size());
  }
  for (const FlowId id : component_flows_) flows_[id].next_rate = -1;
  std::size_t open = component_flows_.size();
  while (open > 0) {
    double share = std::numeric_limits<double>::infinity();
    LinkId tight = 0;
    for (const LinkId l : component_links_)
      if (links_[l].open > 0 && links_[l].left / links_[l].open < share) {
        share = links_[l].left / links_[l].open;
        tight = l;
      }
    std::size_t given = 0;
    for (const FlowId id : component_flows_)
      if (flows_[id].next_rate < 0 && flows_[id].cap <= share) {
        give(id, flows_[id].cap);
        ++given;
      }
    if (given == 0)
      for (const FlowId id : links_[tight].flows)
        if (flows_[id].next_rate < 0) {
          give(id, share);
          ++given;
        }
    open -= given;
  }
}

std::span<const FlowNetwork::Change> FlowNetwork::settle(double now) {
  changes_.clear();
  if (dirty_.empty()) return changes_;
  ++stamp_;
  for (const LinkId first : dirty_) {
    links_[first].dirty = false;
    if (links_[first].seen == stamp_ || links_[first].flows.empty()) continue;
    collect(first);
    if (component_flows_.size() == 1) {  // alone on its way: the common case
      Flow& f = flows_[component_flows_[0]];
      f.next_rate = f.cap;
      for (const LinkId l : f.route) f.next_rate = std::min(f.next_rate, links_[l].bandwidth);
    } else {
      fill();
    }
    for (const FlowId id : component_flows_) {
      Flow& f = flows_[id];
      if (f.next_rate == f.rate) continue;
      f.remaining = std::max(0.0, f.remaining - f.rate * (now - f.updated));
      f.updated = now;
      f.rate = f.next_rate;
      changes_.push_back({id, now + f.remaining / f.rate, ++f.version});
    }
  }
  dirty_.clear();
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) { return a.flow < b.flow; });
  return changes_;
}

}  // namespace espalier::model
