#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <png.h>
#include <random>
#include <sys/stat.h>

#include "experiments/classify/results.hpp"
#include "experiments/images/preprocess.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/onnx_model.hpp"
#include "tests/support/run_command.hpp"

namespace espalier {
namespace {

using test::fresh_folder;
using test::run_espalier;
using ::testing::HasSubstr;

constexpr int kSide = 16;
constexpr int kClasses = 4;

std::string gradient_png(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> pixels(std::size_t{3} * kSide * kSide);
  for (auto& p : pixels) p = static_cast<std::uint8_t>(random() % 256);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = kSide;
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string bytes(size, '\0');
  png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

/// [N, 3, 16, 16] -> convolution, global average, dense -> [N, 4].
std::string classifier_onnx() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  test::OnnxModel m;
  const auto values = [&](std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = normal(random);
    return v;
  };
  m.input("image", {-1, 3, kSide, kSide});
  m.floats("w", {8, 3, 3, 3}, values(216));
  m.floats("d", {8, kClasses}, values(32));
  m.node("Conv", {"image", "w"}, {"c"});
  m.node("Relu", {"c"}, {"r"});
  m.node("GlobalAveragePool", {"r"}, {"g"});
  m.node("Flatten", {"g"}, {"f"});
  m.node("Gemm", {"f", "d"}, {"scores"});
  m.output("scores");
  return m.bytes();
}

class Classify : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fresh_folder("classify");
    write(model(), classifier_onnx());
    write(file("labels.txt"), "rose\nlily\noak\nfern\n");
    // the image is as large as the input: no resize
    write(file("p.yaml"), "resize: 16\ncrop: 16\n");
    std::filesystem::create_directory(file("photos"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::string& path, const std::string& bytes) { std::ofstream(path) << bytes; }
  std::string file(const std::string& name) const { return folder_ + "/" + name; }
  std::string model() const { return file("model.onnx"); }
  void add_photos(int n) const {
    for (int i = 0; i < n; ++i)
      write(file("photos/" + std::to_string(1000 + i) + ".png"), gradient_png(static_cast<std::uint32_t>(i)));
  }
  test::CommandResult classify(std::vector<std::string> more, std::size_t interrupt_after = 0) const {
    std::vector<std::string> arguments{"classify",         "--model",      model(),       "--labels",
                                       file("labels.txt"), "--preprocess", file("p.yaml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_espalier(arguments, interrupt_after);
  }
  std::string folder_;
};

TEST_F(Classify, EqualsTheNetworkEvaluatedNodeByNode) {
  add_photos(11);
  const auto result = classify({"--json", "--top", "4", file("photos")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  Binding one;
  one.batch = 1;
  const Graph bound = bind(import_onnx(model(), all_layers()), all_layers(), one);
  std::istringstream lines(result.out);
  std::string line;
  int i = 0;
  for (; std::getline(lines, line); ++i) {
    const auto json = nlohmann::json::parse(line);
    const Image image = decode_image(gradient_png(static_cast<std::uint32_t>(i)), "p");
    Tensor input(DType::f32, Shape{1, 3, kSide, kSide});
    for (int c = 0; c < 3; ++c)
      for (int p = 0; p < kSide * kSide; ++p)
        input.as_mutable<float>()[c * kSide * kSide + p] = static_cast<float>(image.rgb[p * 3 + c] / 255.0);
    const auto scores = evaluate(bound, all_layers(), {{"image", input}}).at("scores");
    const auto expected = to_probabilities(scores.as<float>(), OutputKind::logits);
    EXPECT_THAT(json["subject"].get<std::string>(), HasSubstr(std::to_string(1000 + i)));
    for (const auto& candidate : json["candidates"])
      EXPECT_NEAR(candidate["probability"].get<double>(), expected[candidate["index"].get<std::size_t>()],
                  1e-5);
  }
  EXPECT_EQ(i, 11);
}

TEST_F(Classify, AFullDiskEndsWithAnErrorAndDevicesStay) {
  add_photos(3);
  ASSERT_TRUE(std::filesystem::is_character_file("/dev/full"));
  std::filesystem::create_symlink("/dev/full", file("full"));
  for (const char* format : {"text", "csv", "jsonl"}) {
    const auto result = classify({"--format", format, "--output", file("full"), file("photos")});
    EXPECT_EQ(result.exit_code, 1) << format;
    EXPECT_THAT(result.err, HasSubstr("cannot be written: No space left"));
  }
  EXPECT_THAT(classify({"--output", folder_, file("photos")}).err, HasSubstr("is a folder"));
  EXPECT_TRUE(std::filesystem::is_symlink(file("full")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Classify, ScoresThatAreNoNumbersAreAProblemOfTheImage) {
  add_photos(2);
  test::OnnxModel m;
  m.input("image", {-1, 3, kSide, kSide});
  m.floats("zero", {1}, {0});
  m.node("GlobalAveragePool", {"image"}, {"g"});
  m.node("Flatten", {"g"}, {"f"});
  m.node("Sub", {"f", "f"}, {"n"});
  m.node("Div", {"n", "zero"}, {"scores"});
  m.output("scores");
  write(model(), m.bytes());
  const auto result = run_espalier(
      {"classify", "--model", model(), "--preprocess", file("p.yaml"), "--json", file("photos")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("1000.png: the network's scores are not all numbers"));
}

TEST(Command, AnUnknownOneIsNamed) {
  const auto result = run_espalier({"clasify", "x.jpg"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("clasify is no command; commands are calibrate, classify, "));
}

TEST_F(Classify, APipeAmongThePhotographsIsPassedOver) {
  add_photos(2);
  ASSERT_EQ(::mkfifo(file("photos/pipe.jpg").c_str(), 0600), 0);
  const auto result = classify({file("photos")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("pipe.jpg: is no regular file"));
}

TEST_F(Classify, CorruptImagesAreSkippedAndTheExitCodeSaysSo) {
  add_photos(3);
  write(file("photos/1001.png"), gradient_png(1).substr(0, 100));
  write(file("photos/empty.jpg"), "");
  const auto result = classify({"--format", "csv", file("photos")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.out, HasSubstr("1001.png: damaged PNG"));
  EXPECT_THAT(result.out, HasSubstr("empty.jpg: the file is empty"));
  EXPECT_THAT(result.out, HasSubstr("1002.png,1,1,"));
  EXPECT_EQ(classify({file("photos/empty.jpg")}).exit_code, 2);
}

TEST_F(Classify, FoldersAreGroupedAndUncertainOnesUnknown) {
  add_photos(4);
  const auto result = classify({"--json", "--group-by", "folder", "--reject", "1", file("photos")});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["photographs"], 4);
  EXPECT_EQ(json["unknown"], true);
}

TEST_F(Classify, AnOutputFileIsWholeOrAbsent) {
  add_photos(2);
  EXPECT_EQ(classify({"--json", "--output", file("r.jsonl"), file("photos")}).exit_code, 0);
  const std::string text = read_file(file("r.jsonl"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(classify({"--output", file("none/r.txt"), file("photos")}).exit_code, 2);
  write(file("labels.txt"), "one\n");
  EXPECT_EQ(classify({"--output", file("s.txt"), file("photos")}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(file("s.txt")));
  EXPECT_FALSE(std::filesystem::exists(file("s.txt.part")));
}

TEST_F(Classify, AnInterruptionKeepsWhatIsDone) {
  add_photos(3000);
  const auto result = classify({"--json", "--micro-batch", "1", file("photos")}, 1000);
  EXPECT_EQ(result.exit_code, 130) << result.err;
  std::istringstream lines(result.out);
  std::string line;
  int n = 0;
  for (; std::getline(lines, line); ++n) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_GT(n, 0);
  EXPECT_LT(n, 3000);
}

TEST_F(Classify, WrongInputIsNamed) {
  add_photos(1);
  const std::string photo = file("photos/1000.png");
  write(file("garbage.onnx"), "this is no model");
  write(file("cut.onnx"), classifier_onnx().substr(0, 300));
  write(file("three.txt"), "a\nb\nc\n");
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{"classify", photo}, "one of --model FILE.onnx and --network NAME is needed"},
      {{"classify", "--model", file("none.onnx"), photo}, "none.onnx: cannot be read"},
      {{"classify", "--model", file("garbage.onnx"), photo}, "garbage.onnx"},
      {{"classify", "--model", file("cut.onnx"), photo}, "cut.onnx"},
      {{"classify", "--model", model(), "--labels", file("three.txt"), photo},
       "3 names, but the network has 4 outputs"},
      {{"classify", "--model", model(), file("nowhere")}, "nowhere: no such file or folder"},
      {{"classify", "--model", model(), "--top", "0", photo}, "--top 0"},
      {{"classify", "--model", model(), "--reject", "2", photo}, "--reject 2"},
      {{"classify", "--model", model(), "--format", "xml", photo}, "known are text, csv and jsonl"},
      {{"classify", "--model", model(), "--preprocess", "foo", photo}, "known are imagenet, plantnet300k"},
      {{"classify", "--model", model(), "--scheduler", "starpu:foo", photo}, "foo"},
      {{"classify", "--model", model(), "--scheduler", "heft", photo}, "starpu:NAME"},
      {{"classify", "--model", model(), "--cores", "999", photo}, "999"},
      {{"classify", "--network", "resnet18", photo}, "needs --weights"},
      {{"classify", "--network", "resnet99", "--weights", model(), photo}, "resnet99"},
      {{"classify", "--network", "resnet18", "--weights", photo, photo}, "1000.png"},
      {{"classify", "--model", model(), "--weights", photo, photo}, "an ONNX model brings its own"},
      {{"classify", "--model", model(), "--names", photo, photo}, "--names needs --labels"},
      {{"classify", "--model", model(), "--max-pixels", "10", photo}, "16 x 16 pixels, at most 10"},
  };
  for (const auto& c : cases) {
    const auto result = run_espalier(c.arguments);
    EXPECT_EQ(result.exit_code, 2) << c.message << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(c.message));
    EXPECT_EQ(result.out, "") << c.message;
  }
}

}  // namespace
}  // namespace espalier
