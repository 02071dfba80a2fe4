#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace espalier::sampling {

/// HOST.platform.v4.xml: a machine as StarPU gives it to SimGrid. Hosts stand for devices: RAM, CPU0,
/// CUDA0, ...
struct MachineXml {
  struct Host {
    std::string name;
    double memory = 0;             ///< bytes, property memsize; 0: not given
    bool copies_to_peers = false;  ///< property memcpy_peer: GPU to GPU without main memory
  };
  struct Link {
    std::string name;
    double bandwidth = 0;  ///< byte/s
    double latency = 0;    ///< seconds
    bool shared = true;    ///< false: FATPIPE, each transfer has the whole
  };
  struct Route {
    std::string from, to;
    std::vector<std::string> links;  ///< a link named twice is crossed twice
  };
  std::vector<Host> hosts;
  std::vector<Link> links;
  std::vector<Route> routes;
};

/// `name` stands in front of errors. InputError with the place for malformed XML, quantities, doubled names,
/// and routes over links or between hosts that do not exist.
MachineXml read_machine_xml(std::string_view text, const std::string& name);
std::string machine_xml_to_text(const MachineXml& machine);

}  // namespace espalier::sampling
