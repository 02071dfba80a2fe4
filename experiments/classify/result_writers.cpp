#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/classify/results.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using Labels = std::vector<std::string>;

/// A full disk ends the run at the first result that is lost.
void flush(std::FILE* out) {
  if (std::fflush(out) != 0 || std::ferror(out) != 0)
    throw DeviceError(fmt::format("the results cannot be written: {}", std::strerror(errno)));
}

class TextWriter final : public ResultWriter {
 public:
  TextWriter(const Labels& labels, std::FILE* out) : labels_(labels), out_(out) {}
  void result(const std::string& subject, std::size_t photographs, std::span<const Candidate> candidates,
              bool unknown) override {
    fmt::print(out_, "{}{}\n", subject, photographs > 1 ? fmt::format(" ({} photographs)", photographs) : "");
    if (unknown) fmt::print(out_, "  unknown\n");
    for (const Candidate& c : candidates)
      fmt::print(out_, "  {:6.2f} %  {}\n", 100 * c.probability, labels_[c.index]);
    flush(out_);
  }
  void problem(const std::string&, const std::string& reason) override {
    fmt::print(stderr, "skipped {}\n", reason);
  }

 private:
  const Labels& labels_;
  std::FILE* out_;
};

/// RFC 4180: quoted when it holds a comma, a quote or a line break.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(const Labels& labels, std::FILE* out) : labels_(labels), out_(out) {
    fmt::print(out_, "subject,photographs,rank,index,label,probability,unknown,error\n");
  }
  void result(const std::string& subject, std::size_t photographs, std::span<const Candidate> candidates,
              bool unknown) override {
    int rank = 0;
    for (const Candidate& c : candidates)
      fmt::print(out_, "{},{},{},{},{},{:.6f},{},\n", csv_field(subject), photographs, ++rank, c.index,
                 csv_field(labels_[c.index]), c.probability, unknown ? "yes" : "no");
    flush(out_);
  }
  void problem(const std::string& subject, const std::string& reason) override {
    fmt::print(out_, "{},1,,,,,,{}\n", csv_field(subject), csv_field(reason));
    flush(out_);
  }

 private:
  const Labels& labels_;
  std::FILE* out_;
};

class JsonLinesWriter final : public ResultWriter {
 public:
  JsonLinesWriter(const Labels& labels, std::FILE* out) : labels_(labels), out_(out) {}
  void result(const std::string& subject, std::size_t photographs, std::span<const Candidate> candidates,
              bool unknown) override {
    nlohmann::ordered_json line{{"subject", subject}, {"photographs", photographs}, {"unknown", unknown}};
    auto& list = line["candidates"] = nlohmann::ordered_json::array();
    for (const Candidate& c : candidates)
      list.push_back({{"index", c.index}, {"label", labels_[c.index]}, {"probability", c.probability}});
    write(line);
  }
  void problem(const std::string& subject, const std::string& reason) override {
    write({{"subject", subject}, {"error", reason}});
  }

 private:
  /// File names need not be UTF-8: what is not is replaced.
  void write(const nlohmann::ordered_json& line) {
    fmt::print(out_, "{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    flush(out_);
  }
  const Labels& labels_;
  std::FILE* out_;
};

}  // namespace

std::unique_ptr<ResultWriter> make_result_writer(std::string_view format, const Labels& labels,
                                                 std::FILE* out) {
  if (format == "text") return std::make_unique<TextWriter>(labels, out);
  if (format == "csv") return std::make_unique<CsvWriter>(labels, out);
  if (format == "jsonl") return std::make_unique<JsonLinesWriter>(labels, out);
  throw InputError(fmt::format("format {} is not known; known are text, csv and jsonl", format));
}

}  // namespace espalier
