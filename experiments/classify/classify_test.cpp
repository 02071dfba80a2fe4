#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/classify/labels.hpp"
#include "experiments/classify/results.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string temporary(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + name;
  write_file(path, content);
  return path;
}

template <class F>
std::string input_error(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Labels, FourFormsAreRead) {
  EXPECT_THAT(read_labels(temporary("l1", "\xef\xbb\xbfrose\r\nlily\n")), ElementsAre("rose", "lily"));
  EXPECT_THAT(read_labels(temporary("l2", R"(["rose", "lily"])")), ElementsAre("rose", "lily"));
  EXPECT_THAT(read_labels(temporary("l3", R"({"1": ["n2", "lily"], "0": ["n1", "rose"]})")),
              ElementsAre("rose", "lily"));
  const std::string names =
      temporary("n", R"({"1355868": "Lactuca virosa L.", "1355920": "Pelargonium capitatum (L.) L'Hér."})");
  EXPECT_THAT(read_labels(temporary("l4", R"({"0": "1355920", "1": "1355868"})"), names),
              ElementsAre("Pelargonium capitatum (L.) L'Hér.", "Lactuca virosa L."));
}

TEST(Labels, FaultsAreNamed) {
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "a\n\nb\n")); }), HasSubstr(":2: an empty line"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "")); }), HasSubstr("it has no names"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "{\"0\": 1.5}")); }),
              HasSubstr("entry 0 is number"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "{\"x\": \"a\"}")); }),
              HasSubstr("key x is not the index"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "{\"1\": \"a\"}")); }),
              HasSubstr("no name for output 0"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "[\"a\"")); }), HasSubstr("not JSON"));
  EXPECT_THAT(input_error([] { read_labels(temporary("l", "a\n"), temporary("m", "{\"b\": \"c\"}")); }),
              HasSubstr("no name for a"));
  EXPECT_THAT(input_error([] { require_label_count({"a"}, 2, "names.txt"); }),
              HasSubstr("names.txt: 1 names, but the network has 2"));
}

TEST(Probabilities, SoftmaxAndTop) {
  // softmax(0, ln 3) = 1/4, 3/4
  const std::vector<float> logits{0, std::log(3.0F)};
  EXPECT_THAT(to_probabilities(logits, OutputKind::logits),
              ElementsAre(testing::DoubleNear(0.25, 1e-7), testing::DoubleNear(0.75, 1e-7)));
  const auto top = top_candidates(std::vector<double>{0.2, 0.4, 0.4}, 2);
  EXPECT_EQ(top[0].index, 1);
  EXPECT_EQ(top[1].index, 2);
}

class Recorder final : public ResultWriter {
 public:
  std::vector<std::string> lines;
  void result(const std::string& subject, std::size_t n, std::span<const Candidate> c,
              bool unknown) override {
    lines.push_back(subject + " " + std::to_string(n) + " " + std::to_string(c[0].index) +
                    (unknown ? " unknown" : ""));
  }
  void problem(const std::string& subject, const std::string& reason) override {
    lines.push_back(subject + ": " + reason);
  }
};

TEST(ResultCollector, GroupsAFolderAndRejects) {
  Recorder writer;
  ResultCollector collector({1, 0.7, true}, writer);
  for (const char* path : {"p/a.jpg", "p/b.jpg", "q/c.jpg", "q/d.jpg"}) collector.expect(path);
  collector.add("p/a.jpg", std::vector<double>{0.9, 0.1});
  collector.add("q/c.jpg", std::vector<double>{0.2, 0.8});
  collector.add("p/b.jpg", std::vector<double>{0.3, 0.7});  // mean 0.6, 0.4: under 0.7
  collector.skip("q/d.jpg", "corrupt");
  EXPECT_THAT(writer.lines, ElementsAre("p 2 0 unknown", "q/d.jpg: corrupt", "q 1 1"));
}

TEST(ResultCollector, AnInterruptionWritesWhatIsDone) {
  Recorder writer;
  ResultCollector collector({1, 0, true}, writer);
  collector.expect("p/a.jpg");
  collector.expect("p/b.jpg");
  collector.add("p/a.jpg", std::vector<double>{0.9, 0.1});
  collector.finish();
  EXPECT_THAT(writer.lines, ElementsAre("p 1 0"));
}

TEST(ResultWriters, CsvAndJsonQuote) {
  const std::vector<std::string> labels{"a, \"b\""};
  const std::vector<Candidate> top{{0, 0.5}};
  const auto written = [&](const char* format) {
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* out = open_memstream(&buffer, &size);
    make_result_writer(format, labels, out)->result("x.jpg", 1, top, false);
    std::fclose(out);
    std::string text(buffer, size);
    std::free(buffer);
    return text;
  };
  EXPECT_THAT(written("csv"), HasSubstr("x.jpg,1,1,0,\"a, \"\"b\"\"\",0.500000,no,\n"));
  EXPECT_THAT(written("jsonl"), HasSubstr(R"("label":"a, \"b\"","probability":0.5)"));
  EXPECT_THAT(written("text"), HasSubstr(" 50.00 %  a"));
  EXPECT_THAT(input_error([&] { make_result_writer("xml", labels, stdout); }),
              HasSubstr("known are text, csv and jsonl"));
}

}  // namespace
}  // namespace espalier
