#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/onnx_model.hpp"
#include "tests/support/run_command.hpp"

/// `espalier conformance` on folders made here; tests/conformance runs ONNX's own.
namespace espalier {
namespace {

using test::fresh_folder;
using test::run_espalier;
using ::testing::HasSubstr;

std::string tensor(const std::string& name, const std::vector<float>& values) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(static_cast<std::int64_t>(values.size()));
  for (const float v : values) t.add_float_data(v);
  return t.SerializeAsString();
}

class ConformanceCommand : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = fresh_folder("conformance"); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// y = op(x) on {-1, 2}, with `expected` recorded.
  void add_case(const std::string& name, const std::string& op, const std::vector<float>& expected,
                bool with_input = true) const {
    const std::string data = folder_ + "/node/" + name + "/test_data_set_0/";
    std::filesystem::create_directories(data);
    test::OnnxModel m;
    m.input("x", {2});
    m.node(op, {"x"}, {"y"});
    m.output("y");
    std::ofstream(folder_ + "/node/" + name + "/model.onnx") << m.bytes();
    if (with_input) std::ofstream(data + "input_0.pb") << tensor("x", {-1, 2});
    if (!expected.empty()) std::ofstream(data + "output_0.pb") << tensor("y", expected);
  }
  std::string folder_;
};

TEST_F(ConformanceCommand, TellsPassedFailedAndRefused) {
  add_case("a_good", "Relu", {0, 2});
  add_case("b_wrong", "Relu", {0, 3});
  add_case("c_unknown", "Einsum", {0, 2});
  add_case("d_no_input", "Relu", {0, 2}, false);
  add_case("e_no_output", "Relu", {});
  const auto result = run_espalier({"conformance", folder_});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("passed  node/a_good\n"));
  EXPECT_THAT(result.out, HasSubstr("failed  node/b_wrong: output y: element 1 is 2, 3 expected\n"));
  EXPECT_THAT(result.out,
              HasSubstr("refused node/c_unknown: node y_Einsum: operator Einsum is not supported\n"));
  EXPECT_THAT(result.out, HasSubstr("has no data for input x\n"));
  EXPECT_THAT(result.out, HasSubstr("has no output_0.pb\n"));
  EXPECT_THAT(result.out, HasSubstr("1 passed, 1 failed, 3 refused, 5 cases\n"));
}

TEST_F(ConformanceCommand, OneCaseAsJson) {
  add_case("good", "Relu", {0, 2});
  const auto result = run_espalier({"conformance", folder_ + "/node/good/", "--json", "--cores", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["cases"][0]["suite"], "node");
  EXPECT_EQ(json["cases"][0]["name"], "good");
  EXPECT_EQ(json["cases"][0]["outcome"], "passed");
}

TEST_F(ConformanceCommand, FaultsAreNamed) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const auto result = run_espalier(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"conformance", folder_}), HasSubstr("no case in it"));
  EXPECT_THAT(error({"conformance", folder_ + "/absent"}), HasSubstr("cannot be read"));
  add_case("good", "Relu", {0, 2});
  EXPECT_THAT(error({"conformance", folder_, "--only", "conv"}), HasSubstr("no case has \"conv\""));
  EXPECT_THAT(error({"conformance", folder_, "--scheduler", "heft"}), HasSubstr("starpu:NAME is needed"));
  EXPECT_THAT(error({"conformance", folder_, "--scheduler", "starpu:none"}), HasSubstr("none"));
}

TEST_F(ConformanceCommand, GarbageIsRefused) {
  add_case("garbage", "Relu", {0, 2});
  std::ofstream(folder_ + "/node/garbage/test_data_set_0/input_0.pb") << "not a tensor";
  const auto result = run_espalier({"conformance", folder_});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("refused node/garbage: "));
}

}  // namespace
}  // namespace espalier
