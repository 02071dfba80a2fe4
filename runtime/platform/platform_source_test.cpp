#include "runtime/platform/platform_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/quantity.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

std::vector<std::string> route_names(const Platform& p, const std::string& from, const std::string& to) {
  const auto find = [&](const std::string& name) {
    for (MemoryId m = 0; m < p.memories.size(); ++m)
      if (p.memories[m].name == name) return m;
    return static_cast<MemoryId>(p.memories.size());
  };
  std::vector<std::string> names;
  for (const LinkId l : p.route(find(from), find(to))) names.push_back(p.links[l].name);
  return names;
}

TEST(Quantity, KeepsPowersOf10And2Apart) {
  EXPECT_EQ(parse_quantity("16 GiB", Dimension::bytes), 17179869184.0);
  EXPECT_EQ(parse_quantity("16 GB", Dimension::bytes), 16e9);
  EXPECT_EQ(parse_quantity("12GB/s", Dimension::bandwidth), 12e9);
  EXPECT_EQ(parse_quantity("100 Gbit/s", Dimension::bandwidth), 12.5e9);
  EXPECT_DOUBLE_EQ(parse_quantity("10 us", Dimension::time), 1e-5);
  EXPECT_DOUBLE_EQ(parse_quantity("15.7 Tflop/s", Dimension::compute), 15.7e12);
}

TEST(Quantity, RefusesUnknownUnitsAndNamesTheAccepted) {
  const auto error = [](const char* t, Dimension d) { return error_of([&] { parse_quantity(t, d); }); };
  EXPECT_THAT(error("12 GBps", Dimension::bandwidth), HasSubstr("GB/s"));
  EXPECT_THAT(error("12", Dimension::bytes), HasSubstr("unit is missing"));
  EXPECT_THAT(error("", Dimension::bytes), HasSubstr("no such number"));
  EXPECT_THAT(error("-1 s", Dimension::time), HasSubstr("no such number"));
  EXPECT_THAT(error("1e999 s", Dimension::time), HasSubstr("no such number"));
  EXPECT_THAT(error("nan s", Dimension::time), HasSubstr("no such number"));
  EXPECT_THAT(error("1 gb", Dimension::bytes), HasSubstr("unknown unit"));
}

TEST(PlatformYaml, PeerCopiesAreSerialOrParallel) {
  const auto read = [](const char* value) {
    return read_platform(std::string("kinds: {c: {type: cpu}}\nmemories: {main: 1 GiB}\n"
                                     "devices: [{name: cpu, kind: c, memory: main}]\n") +
                             value,
                         "p.yaml");
  };
  EXPECT_FALSE(read("").serial_peer_copies);
  EXPECT_TRUE(read("peer_copies: serial").serial_peer_copies);
  EXPECT_FALSE(read("peer_copies: parallel").serial_peer_copies);
  EXPECT_NE(read("peer_copies: serial").fingerprint(), read("").fingerprint());
  EXPECT_THAT(error_of([&] { read("peer_copies: both"); }), HasSubstr("p.yaml:4: peer_copies \"both\""));
}

TEST(PlatformNamed, EachNamedOneIsComplete) {
  ASSERT_GE(named_platforms().size(), 7U);
  for (const NamedPlatform& named : named_platforms()) {
    SCOPED_TRACE(named.name);
    const Platform p = platform_named(std::string(named.name));
    EXPECT_EQ(p.name, named.name);
    EXPECT_FALSE(platform_summary(named).empty());
    for (MemoryId a = 0; a < p.memories.size(); ++a)
      for (MemoryId b = 0; b < p.memories.size(); ++b) EXPECT_TRUE(p.has_route(a, b));
    for (const DeviceKind& k : p.kinds) EXPECT_GT(k.peak_flops, 0);
  }
}

TEST(PlatformNamed, RoutesFollowTheTopology) {
  const Platform node = platform_named("node-2cpu-4gpu");
  EXPECT_EQ(node.workers.size(), 36U);
  EXPECT_THAT(route_names(node, "main", "gpu0"), testing::ElementsAre("main->plx0", "plx0->gpu0"));
  EXPECT_THAT(route_names(node, "gpu0", "gpu1"), testing::ElementsAre("gpu0->plx0", "plx0->gpu1"));
  EXPECT_THAT(route_names(node, "gpu0", "gpu2"),
              testing::ElementsAre("gpu0->plx0", "plx0->main", "main->plx1", "plx1->gpu2"));
  const Platform dgx = platform_named("dgx-1");
  EXPECT_THAT(route_names(dgx, "gpu0", "gpu3"), testing::ElementsAre("gpu0->gpu3"));
  EXPECT_EQ(route_names(dgx, "gpu0", "gpu5").size(), 4U);  // no NVLink: over PCIe, not through a GPU
  // six NVLinks leave each GPU: 150 GB/s
  std::vector<double> sum(8, 0);
  for (const Link& l : dgx.links)
    if (l.name.starts_with("gpu") && l.name.find("->gpu") != std::string::npos)
      sum[static_cast<std::size_t>(l.name[3] - '0')] += l.bandwidth;
  EXPECT_THAT(sum, testing::Each(150e9));
  const Platform cluster = platform_named("cluster");
  EXPECT_EQ(cluster.workers.size(), 144U);
  EXPECT_EQ(route_names(cluster, "node0.gpu0", "node3.gpu3").size(), 6U);
}

TEST(PlatformNamed, IdenticalAndLocal) {
  EXPECT_EQ(platform_named("identical:3").workers.size(), 3U);
  EXPECT_THAT(error_of([] { platform_named("identical:0"); }), HasSubstr("1 .."));
  EXPECT_THAT(error_of([] { platform_named("identical:x"); }), HasSubstr("whole number"));
  EXPECT_THAT(error_of([] { platform_named("nowhere"); }), HasSubstr("dgx-1"));
  EXPECT_THAT(error_of([] { platform_named("missing.yaml"); }), HasSubstr("missing.yaml"));
  const Platform local = platform_named("local");
  EXPECT_GE(local.workers.size(), 1U);
  EXPECT_GT(local.memories[0].capacity.value, 0);
}

constexpr const char* kHead =
    "kinds:\n  c: {type: cpu, peak: 1 Gflop/s, memory_bandwidth: 1 GB/s}\n  g: {type: cuda}\nmemories:\n"
    "  main: 1 GiB\n";

TEST(PlatformYaml, NamesTheLineOfAnError) {
  const auto error = [](const std::string& rest) {
    return error_of([&] { read_platform(kHead + rest, "p.yaml"); });
  };
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: c, memory: main}\n"), HasSubstr("no error"));
  EXPECT_THAT(error(""), HasSubstr("no device"));
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: x, memory: main}\n"), HasSubstr("p.yaml:7: kind \"x\""));
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: c, memory: other}\n"), HasSubstr("p.yaml:7"));
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: c, memory: 3 gigs}\n"), HasSubstr("GiB"));
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: c, count: 0, memory: main}\n"), HasSubstr("1 .."));
  EXPECT_THAT(error("devices:\n  - {name: cpu, kind: c, colour: red, memory: main}\n"), HasSubstr("colour"));
  EXPECT_THAT(error("devices: 3\n"), HasSubstr("list"));
  EXPECT_THAT(error("devices: [\n"), HasSubstr("p.yaml:"));
  const std::string devices =
      "devices:\n  - {name: cpu, kind: c, memory: main}\n  - {name: gpu, kind: g, count: 2, memory: 1 GiB}\n";
  EXPECT_THAT(error(devices), HasSubstr("gpu0 of worker gpu0 cannot be reached"));
  EXPECT_THAT(error(devices + "links:\n  - {from: main, to: gpu0, bandwidth: 1 GB/s, latency: 1 us}\n"),
              HasSubstr("gpu1 of worker gpu1 cannot be reached"));
  const std::string links = devices + "links:\n  - {from: main, to: [gpu0, gpu1], ";
  EXPECT_THAT(error(links + "bandwidth: 1 GB/s, latency: 1 us}\n"), HasSubstr("no error"));
  EXPECT_THAT(error(links + "bandwidth: 1 GB, latency: 1 us}\n"), HasSubstr("p.yaml:10: bandwidth"));
  EXPECT_THAT(error(links + "bandwidth: 0 GB/s, latency: 1 us}\n"), HasSubstr("more than 0"));
  EXPECT_THAT(error(links + "bandwidth: 1 GB/s, latency: 1 us, duplex: maybe}\n"), HasSubstr("half"));
  EXPECT_THAT(error(links + "latency: 1 us}\n"), HasSubstr("needs \"bandwidth\""));
  EXPECT_THAT(error(devices + "switches: [gpu0]\n"), HasSubstr("there twice"));
  EXPECT_THAT(error(devices + "machines:\n  - {platform: none, name: n}\n"), HasSubstr("not known"));
}

TEST(PlatformYaml, HalfDuplexIsOneLink) {
  const Platform p = read_platform(
      std::string(kHead) +
          "devices:\n  - {name: cpu, kind: c, memory: main}\n  - {name: gpu, kind: g, memory: 1 GiB}\n"
          "links:\n  - {from: main, to: gpu, bandwidth: 1 GB/s, latency: 1 us, duplex: half}\n",
      "p.yaml");
  EXPECT_EQ(p.links.size(), 1U);
  EXPECT_EQ(p.route(0, 1)[0], p.route(1, 0)[0]);
}

}  // namespace
}  // namespace espalier
