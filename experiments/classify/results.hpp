#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

struct Candidate {
  int index;
  double probability;
};

/// The k most probable outputs, the most probable first; equal ones by index.
std::vector<Candidate> top_candidates(std::span<const double> probabilities, int k);

/// Softmax in double precision, or the values as they are where the network ends in Softmax; exp of a
/// LogSoftmax.
enum class OutputKind { logits, probabilities, log_probabilities };
std::vector<double> to_probabilities(std::span<const float> outputs, OutputKind kind);

struct ResultOptions {
  int top = 5;
  double reject = 0;  ///< under this probability the answer is "unknown"
  bool group_by_folder = false;
};

/// Where results go. A file or folder is reported once, in order.
class ResultWriter {
 public:
  virtual ~ResultWriter() = default;
  virtual void result(const std::string& subject, std::size_t photographs,
                      std::span<const Candidate> candidates, bool unknown) = 0;
  virtual void problem(const std::string& subject, const std::string& reason) = 0;
  virtual void end() {}
};

/// format: "text", "csv" or "jsonl". InputError naming these otherwise. Writes to `out` and flushes after
/// each subject.
std::unique_ptr<ResultWriter> make_result_writer(std::string_view format,
                                                 const std::vector<std::string>& labels, std::FILE* out);

/// Takes the probabilities of each image in order, groups them when asked, and writes.
class ResultCollector {
 public:
  ResultCollector(ResultOptions options, ResultWriter& writer) : options_(options), writer_(writer) {}
  /// Announces an image before it is processed, so that a group knows when it is complete.
  void expect(const std::string& path);
  void add(const std::string& path, std::span<const double> probabilities);
  void skip(const std::string& path, const std::string& reason);
  /// Writes groups that an interruption left incomplete.
  void finish();

 private:
  struct Group {
    std::size_t expected = 0, seen = 0, averaged = 0;
    std::vector<double> sum;
  };
  void settle(const std::string& folder, Group& group);
  void write(const std::string& subject, std::size_t photographs, std::span<const double> probabilities);
  ResultOptions options_;
  ResultWriter& writer_;
  std::map<std::string, Group> groups_;
};

}  // namespace espalier
