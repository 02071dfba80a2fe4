#include "experiments/report/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "experiments/report/page_data.hpp"
#include "graphs/base/error.hpp"
#include "runtime/trace/chrome_trace.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

Comparison small_comparison() {
  ComparisonRequest request;
  request.graphs = {"cholesky:4"};
  request.platforms = {"node-2cpu-4gpu"};
  request.schedulers = {"heft_topcuoglu2002", "minmin", "dmdas"};
  request.engines = {"model"};
  return compare(request);
}

/// Names that would end strings, attributes and scripts.
constexpr const char* kNasty = "a\"b\\</script><script>alert(1)</script>,\n<!--";

test::ProblemCase nasty_case() {
  auto c = test::identical_case({1, 2}, {{0, 1, 3}}, 2);
  TaskGraphBuilder builder;
  builder.graph().name = kNasty;
  const CostClass k = builder.add_class({kNasty, "", Flops(0), Bytes(0), 0});
  const DataId d = builder.add_data({Bytes(3), 0, false});
  const Access write{d, AccessMode::write}, read{d, AccessMode::read};
  builder.add_task({k}, {&write, 1}, kNasty);
  builder.add_task({k}, {&read, 1}, kNasty);
  c.graph = builder.build();
  c.costs = CostTable(1, 1);
  c.costs.set(0, 0, Seconds(1), CostSource::given);
  c.platform.workers[1].name = kNasty;
  return c;
}

Trace nasty_trace(const test::ProblemCase& c) {
  Trace trace = simulate_scheduler(c.problem(), "heft_topcuoglu2002").trace;
  trace.transfers.push_back({0, 0, 1, 0, trace.makespan + 1});  // a result on its way home
  trace.memory.push_back({0.5, 0, 3});
  return trace;
}

TEST(Base64, IsThatOfTheRfc) {
  // test vectors of RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Report, ChromeTraceIsJsonWithAnEventForEachTask) {
  const auto c = nasty_case();
  const Trace trace = nasty_trace(c);
  const auto json = nlohmann::json::parse(to_chrome_trace(trace, c.graph, c.platform));
  std::size_t tasks = 0;
  for (const auto& e : json["traceEvents"])
    if (e["ph"] == "X" && e["pid"] == 1) ++tasks;
  EXPECT_EQ(tasks, 2U);
}

TEST(Report, PajeDefinesBeforeItUsesAndEndsWhatItStarts) {
  const auto c = nasty_case();
  const std::string paje = to_paje(nasty_trace(c), c.graph, c.platform);
  EXPECT_EQ(paje.rfind("%EventDef PajeDefineContainerType 1\n", 0), 0U);
  EXPECT_EQ(count(paje, "%EventDef "), count(paje, "%EndEventDef"));
  EXPECT_EQ(count(paje, "\n18 "), count(paje, "\n19 "));
  EXPECT_EQ(count(paje, "\n6 "),
            count(paje, " S \""));              // values are defined of states only, as ViTE wants it
  EXPECT_EQ(count(paje, "\n10 "), 2U + 2 * 2);  // both workers begin idle; each task sets a state and ends it
  double last = 0;
  std::size_t at = paje.find("\n7 ");
  while (at != std::string::npos && at + 1 < paje.size()) {
    const std::size_t end = paje.find('\n', at + 1);
    const std::string line = paje.substr(at + 1, end - at - 1);
    EXPECT_EQ(count(line, "\"") % 2, 0U) << line;
    const double time = std::stod(line.substr(line.find(' ')));
    EXPECT_GE(time, last) << line;
    last = time;
    at = end;
  }
}

TEST(Report, DotHasEachTaskAndEdge) {
  const auto c = nasty_case();
  const std::string dot = to_dot(c.graph, c.costs);
  EXPECT_EQ(count(dot, "[label="), 2U);
  EXPECT_NE(dot.find("t0 -> t1 [bytes=3]"), std::string::npos);
  EXPECT_EQ(count(dot, "\n"), 6U);  // no name breaks a line
}

TEST(Report, CsvQuotesAndCountsColumns) {
  Comparison comparison = small_comparison();
  const std::string csv = comparison_to_csv(comparison);
  const std::size_t columns = count(csv.substr(0, csv.find('\r')), ",");
  std::size_t lines = 0;
  for (std::size_t at = 0; at < csv.size(); ++lines) {
    const std::size_t end = csv.find("\r\n", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(count(csv.substr(at, end - at), ","), columns);
    at = end + 2;
  }
  EXPECT_EQ(lines, 1U + 3);
  comparison.cases[0].how.graph = "a,\"b\"";
  EXPECT_NE(comparison_to_csv(comparison).find("\n\"a,\"\"b\"\"\","), std::string::npos);
}

TEST(Report, NoNameEndsTheScriptOrTheStyle) {
  Comparison comparison = small_comparison();
  comparison.cases[0].how.graph = kNasty;
  comparison.cases[0].rows[0].scheduler = kNasty;
  comparison.command = kNasty;
  judge(comparison.cases[0]);
  const std::string html = comparison_to_html(comparison);
  EXPECT_EQ(count(html, "<script>alert"), 0U);
  EXPECT_EQ(count(html, "</script>"), 2U);  // the data and the page's own
  EXPECT_EQ(count(html, "<!--"), 0U);
  EXPECT_EQ(count(html, "@DATA@"), 0U);
  const std::string begin = "<script id=\"data\" type=\"application/json\">";
  const std::size_t at = html.find(begin) + begin.size();
  const auto json = nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
  EXPECT_EQ(json["cases"][0]["graph"], kNasty);
  EXPECT_EQ(json["cases"][0]["rows"].size(), 3U);
}

TEST(Report, ThePageAsksForNothingFromANetwork) {
  const std::string html = comparison_to_html(small_comparison());
  for (const char* what : {"src=", "href=", "@import", "url(http", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(html.find(what), std::string::npos) << what;
}

TEST(Compare, RanksAndMeasuresAgainstTheBound) {
  const Comparison comparison = small_comparison();
  const ComparisonCase& c = comparison.cases.at(0);
  ASSERT_EQ(c.rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const ComparisonRow& r = c.rows[i];
    if (i > 0) {
      EXPECT_GE(r.summary.makespan, c.rows[i - 1].summary.makespan);
    }
    EXPECT_NEAR(r.summary.gap, r.summary.makespan / c.best_bound() - 1, 1e-9);
    EXPECT_GE(r.summary.gap, 0);
    // the kinds' times are those of all workers for the whole makespan
    double total = 0;
    for (const WorkerTime& t : r.kinds) total += t.total();
    EXPECT_NEAR(total, r.summary.makespan * static_cast<double>(c.loaded->platform.workers.size()),
                1e-9 * total);
    EXPECT_EQ(r.gantt.bars.size(), c.loaded->workload.graph.task_count());
  }
  EXPECT_GE(c.verdict.size(), 4U);
  const auto json = nlohmann::json::parse(comparison_to_json(comparison));
  EXPECT_EQ(json["cases"][0]["winner"], c.rows[0].scheduler);
  for (const char* field : {"makespan", "bounds", "gap", "transfer_bytes", "peak_memory_bytes",
                            "scheduler_seconds", "utilisation", "cost_sources"})
    EXPECT_TRUE(json["cases"][0]["schedulers"][0].contains(field)) << field;
}

TEST(Compare, ListsWhatExistsWhereANameIsUnknown) {
  EXPECT_THROW(schedulers_of("heft_topcuoglu2002,nobody"), InputError);
  EXPECT_THROW(schedulers_of(""), InputError);
  ComparisonRequest request;
  request.engines = {"warp"};
  EXPECT_THROW(require_engines(request), InputError);
  request.engines = {"model", "starpu"};
  request.graphs = {"mobilenet_v2"};
  request.platforms = {"dgx-1"};
  EXPECT_THROW(require_engines(request), InputError);
  request.platforms = {"local"};
  EXPECT_NO_THROW(require_engines(request));
  request.graphs = {"cholesky:4"};
  EXPECT_THROW(require_engines(request), InputError);
  EXPECT_THROW(schedulers_of("eager/both"), InputError);
  EXPECT_THROW(schedulers_of("minmin/neither"), InputError);
  EXPECT_EQ(schedulers_of("minmin/both"), (std::vector<std::string>{"minmin/both"}));
  EXPECT_EQ(schedulers_of("minmin,minmin,maxmin"), (std::vector<std::string>{"minmin", "maxmin"}));
}

TEST(Gantt, MergesShortNeighboursWhereThereAreTooMany) {
  const auto c = test::random_case(300, 3, 0.02, 3, 5);
  const SimulationResult result = simulate_scheduler(c.problem(), "heft_topcuoglu2002");
  const IdleTime idle = idle_time(c.problem(), result.trace);
  const CriticalChain chain = critical_chain(c.problem(), result.trace);
  const Gantt gantt = make_gantt(c.platform, result.trace, idle, chain, 30);
  EXPECT_TRUE(gantt.merged);
  EXPECT_LE(gantt.bars.size(), 2U * 30 + 3);
  std::size_t tasks = 0;
  double busy = 0, expected = 0;
  for (const GanttBar& b : gantt.bars) {
    tasks += b.tasks;
    busy += b.busy;
  }
  for (const TaskEvent& e : result.trace.tasks) expected += e.end - e.start;
  EXPECT_EQ(tasks, 300U);
  EXPECT_NEAR(busy, expected, 1e-9 * expected);
}

}  // namespace
}  // namespace espalier
