#include "runtime/sampling/machine_xml.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <pugixml.hpp>
#include <set>
#include <span>

#include "graphs/base/error.hpp"
#include "runtime/sampling/fields.hpp"

namespace espalier::sampling {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kBandwidths[] = {{"Bps", 1},      {"kBps", 1e3},   {"MBps", 1e6},
                                {"GBps", 1e9},   {"bps", 0.125},  {"kbps", 125},
                                {"Mbps", 125e3}, {"Gbps", 125e6}, {"", 1}};
constexpr Unit kTimes[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"", 1}};

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  MachineXml read() {
    pugi::xml_document document;
    const auto result = document.load_buffer(text_.data(), text_.size());
    if (!result)
      throw InputError(fmt::format("{}:{}: {}", name_, line_of(result.offset), result.description()));
    const pugi::xml_node platform = document.child("platform");
    if (!platform)
      throw InputError(fmt::format("{}: no element <platform>: this is no SimGrid platform", name_));
    pugi::xml_node zone = platform.child("AS");
    if (!zone) zone = platform.child("zone");
    if (!zone)
      throw InputError(
          fmt::format("{}: <platform> has no <AS> or <zone>: this is no machine of StarPU's", name_));
    for (const pugi::xml_node node : zone.children()) {
      const std::string_view kind = node.name();
      if (kind == "host") read_host(node);
      if (kind == "link") read_link(node);
    }
    for (const pugi::xml_node node : zone.children("route")) read_route(node);
    return std::move(machine_);
  }

 private:
  std::size_t line_of(std::ptrdiff_t offset) const {
    const auto end = text_.begin() + std::clamp<std::ptrdiff_t>(offset, 0, std::ssize(text_));
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), end, '\n'));
  }
  [[noreturn]] void fail(const pugi::xml_node& node, const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", name_, line_of(node.offset_debug()), message));
  }
  std::string need(const pugi::xml_node& node, const char* attribute) const {
    const pugi::xml_attribute a = node.attribute(attribute);
    if (!a || *a.value() == '\0') fail(node, fmt::format("<{}> has no {}", node.name(), attribute));
    return a.value();
  }
  double quantity(const pugi::xml_node& node, const char* attribute, std::span<const Unit> units,
                  bool zero_allowed) const {
    const std::string text = need(node, attribute);
    double value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (code == std::errc{} && std::isfinite(value) && (value > 0 || (zero_allowed && value == 0)))
      for (const Unit& u : units)
        if (u.name == unit) return value * u.factor;
    fail(node, fmt::format("{}=\"{}\": a number {} with a unit, as in \"{}\", was expected", attribute,
                           text.substr(0, 40), zero_allowed ? "of at least 0" : "greater than 0",
                           units.data() == kTimes ? "0.00001s" : "6e9Bps"));
  }
  void unique(const pugi::xml_node& node, const std::string& name) {
    if (!names_.insert(name).second) fail(node, fmt::format("{} is there twice", name));
  }

  void read_host(const pugi::xml_node& node) {
    MachineXml::Host host;
    host.name = need(node, "id");
    unique(node, "host " + host.name);
    for (const pugi::xml_node p : node.children("prop")) {
      const std::string key = need(p, "id"), value = need(p, "value");
      if (key != "memsize" && key != "memcpy_peer") continue;
      const auto number = parse_number(value);
      if (!number || !(*number >= 0 && *number < 1e18))
        fail(p, fmt::format("{}=\"{}\": a number of at least 0 was expected", key, value.substr(0, 40)));
      if (key == "memsize") host.memory = *number;
      if (key == "memcpy_peer") host.copies_to_peers = *number != 0;
    }
    machine_.hosts.push_back(std::move(host));
  }

  void read_link(const pugi::xml_node& node) {
    MachineXml::Link link;
    link.name = need(node, "id");
    unique(node, "link " + link.name);
    link.bandwidth = quantity(node, "bandwidth", kBandwidths, false);
    link.latency = quantity(node, "latency", kTimes, true);
    const std::string policy = node.attribute("sharing_policy").as_string("SHARED");
    if (policy != "SHARED" && policy != "FATPIPE")
      fail(node, fmt::format("sharing_policy {}; SHARED and FATPIPE are read", policy.substr(0, 40)));
    link.shared = policy == "SHARED";
    machine_.links.push_back(std::move(link));
  }

  void read_route(const pugi::xml_node& node) {
    MachineXml::Route route;
    route.from = need(node, "src");
    route.to = need(node, "dst");
    for (const std::string& end : {route.from, route.to})
      if (!names_.contains("host " + end))
        fail(node, fmt::format("a route of host \"{}\", which is not there", end));
    unique(node, "route " + route.from + " to " + route.to);
    for (const pugi::xml_node c : node.children("link_ctn")) {
      const std::string link = need(c, "id");
      if (!names_.contains("link " + link)) fail(c, fmt::format("link \"{}\" is not there", link));
      route.links.push_back(link);
    }
    const std::string symmetrical = node.attribute("symmetrical").as_string("YES");
    MachineXml::Route back{route.to, route.from, {route.links.rbegin(), route.links.rend()}};
    machine_.routes.push_back(std::move(route));
    if (symmetrical == "YES" || symmetrical == "yes") {
      unique(node, "route " + back.from + " to " + back.to);
      machine_.routes.push_back(std::move(back));
    }
  }

  std::string_view text_;
  const std::string& name_;
  MachineXml machine_;
  std::set<std::string> names_;
};

void add_property(pugi::xml_node node, const char* id, const std::string& value) {
  pugi::xml_node p = node.append_child("prop");
  p.append_attribute("id") = id;
  p.append_attribute("value") = value.c_str();
}

/// Plain max-min sharing, latencies and bandwidths as they stand: what StarPU writes for its own machines.
void add_configuration(pugi::xml_node platform) {
  pugi::xml_node config = platform.append_child("config");
  config.append_attribute("id") = "General";
  add_property(config, "network/TCP-gamma", "-1");
  add_property(config, "network/latency-factor", "1");
  add_property(config, "network/bandwidth-factor", "1");
  add_property(config, "network/weight-S", "0.0");
  add_property(config, "network/crosstraffic", "0");
}

struct TextWriter final : pugi::xml_writer {
  std::string text;
  void write(const void* data, std::size_t size) override {
    text.append(static_cast<const char*>(data), size);
  }
};

}  // namespace

MachineXml read_machine_xml(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

std::string machine_xml_to_text(const MachineXml& machine) {
  pugi::xml_document document;
  // SimGrid's parser wants the declaration, and reads nothing from there
  document.append_child(pugi::node_doctype).set_value("platform SYSTEM \"https://simgrid.org/simgrid.dtd\"");
  pugi::xml_node platform = document.append_child("platform");
  platform.append_attribute("version") = "4";
  add_configuration(platform);
  pugi::xml_node zone = platform.append_child("AS");
  zone.append_attribute("id") = "AS0";
  zone.append_attribute("routing") = "Full";
  for (const MachineXml::Host& h : machine.hosts) {
    pugi::xml_node node = zone.append_child("host");
    node.append_attribute("id") = h.name.c_str();
    node.append_attribute("speed") = "2000000000f";
    if (h.memory > 0) add_property(node, "memsize", fmt::format("{:.0f}", h.memory));
    if (h.copies_to_peers) add_property(node, "memcpy_peer", "1");
  }
  for (const MachineXml::Link& l : machine.links) {
    pugi::xml_node node = zone.append_child("link");
    node.append_attribute("id") = l.name.c_str();
    node.append_attribute("bandwidth") = fmt::format("{:.12g}Bps", l.bandwidth).c_str();
    node.append_attribute("latency") = fmt::format("{:.12g}s", l.latency).c_str();
    if (!l.shared) node.append_attribute("sharing_policy") = "FATPIPE";
  }
  for (const MachineXml::Route& r : machine.routes) {
    pugi::xml_node node = zone.append_child("route");
    node.append_attribute("src") = r.from.c_str();
    node.append_attribute("dst") = r.to.c_str();
    node.append_attribute("symmetrical") = "NO";
    for (const std::string& l : r.links) node.append_child("link_ctn").append_attribute("id") = l.c_str();
  }
  TextWriter writer;
  document.save(writer, " ");
  return writer.text;
}

}  // namespace espalier::sampling
