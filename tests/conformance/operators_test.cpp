#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <onnx/onnx_pb.h>
#include <set>

#include "experiments/conformance/starpu_executor.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/conformance.hpp"

/// ONNX's own operator cases, as Debian's libonnx-testdata has them. ESPALIER_CONFORMANCE=FILE writes the
/// whole report there.
namespace espalier {
namespace {

namespace fs = std::filesystem;
using conformance::CaseResult;
using conformance::Outcome;

fs::path data_folder() {
  const char* folder = std::getenv("ESPALIER_ONNX_TESTDATA");
  return folder != nullptr ? folder : conformance::kDebianFolder;
}

/// The operators that Espalier promises for float data.
const std::set<std::string> kPromised = {"Conv",
                                         "ConvTranspose",
                                         "Gemm",
                                         "MatMul",
                                         "MaxPool",
                                         "AveragePool",
                                         "GlobalAveragePool",
                                         "BatchNormalization",
                                         "LayerNormalization",
                                         "LRN",
                                         "Softmax",
                                         "LogSoftmax",
                                         "LSTM",
                                         "GRU",
                                         "RNN",
                                         "Relu",
                                         "LeakyRelu",
                                         "PRelu",
                                         "Clip",
                                         "Sigmoid",
                                         "HardSigmoid",
                                         "HardSwish",
                                         "Tanh",
                                         "Elu",
                                         "Selu",
                                         "Erf",
                                         "Softplus",
                                         "Mish",
                                         "Add",
                                         "Sub",
                                         "Mul",
                                         "Div",
                                         "Max",
                                         "Min",
                                         "Neg",
                                         "Abs",
                                         "Concat",
                                         "Split",
                                         "Slice",
                                         "Pad",
                                         "Transpose",
                                         "Reshape",
                                         "Flatten",
                                         "Squeeze",
                                         "Unsqueeze",
                                         "Expand",
                                         "Tile",
                                         "Gather",
                                         "Resize",
                                         "Upsample",
                                         "ReduceMean",
                                         "ReduceSum",
                                         "ReduceMax",
                                         "ReduceMin",
                                         "ReduceL2",
                                         "Pow",
                                         "Sqrt",
                                         "Exp",
                                         "Log",
                                         "Cast",
                                         "Where",
                                         "Equal",
                                         "Greater",
                                         "GreaterOrEqual",
                                         "Less",
                                         "LessOrEqual",
                                         "ArgMax",
                                         "TopK",
                                         "InstanceNormalization",
                                         "DepthToSpace",
                                         "SpaceToDepth",
                                         "Constant",
                                         "Shape",
                                         "Identity",
                                         "Dropout",
                                         "ConstantOfShape"};

/// Cases that may fail for now, each with the reason.
const std::map<std::string, std::string> kExcused = {
    {"test_training_dropout", "random"},
    {"test_training_dropout_default", "random"},
    {"test_training_dropout_default_mask", "random"},
    {"test_training_dropout_mask", "random"},
    {"test_training_dropout_zero_ratio", "training mode"},
    {"test_training_dropout_zero_ratio_mask", "training mode"},
};

/// Whether a case has promised operators alone and no data but float32, integers that index or count, and
/// bool.
bool is_promised(const fs::path& folder) {
  onnx::ModelProto model;
  std::ifstream file(folder / "model.onnx", std::ios::binary);
  if (!model.ParseFromIstream(&file)) return false;
  for (const auto& node : model.graph().node())
    if (!node.domain().empty() || kPromised.count(node.op_type()) == 0) return false;
  bool has_float = false;
  for (const auto* list : {&model.graph().input(), &model.graph().output()})
    for (const auto& info : *list) {
      const int type = info.type().tensor_type().elem_type();
      has_float = has_float || type == onnx::TensorProto::FLOAT;
      if (type != onnx::TensorProto::FLOAT && type != onnx::TensorProto::INT64 &&
          type != onnx::TensorProto::INT32 && type != onnx::TensorProto::BOOL)
        return false;
    }
  return has_float;
}

void run_all(const test::Executor& execute, const char* suffix) {
  std::vector<fs::path> cases;
  if (fs::exists(data_folder())) cases = conformance::find_cases(data_folder());
  if (cases.empty()) GTEST_SKIP() << data_folder() << " is absent; install libonnx-testdata";
  std::vector<CaseResult> all;
  for (const fs::path& folder : cases) {
    const CaseResult result = conformance::run_case(folder, all_layers(), execute);
    all.push_back(result);
    if (result.outcome == Outcome::passed || !is_promised(folder)) continue;
    if (kExcused.count(result.name) == 0)
      ADD_FAILURE() << result.suite << "/" << result.name << ": " << result.reason;
  }
  const std::string text = conformance::report(all);
  if (const char* path = std::getenv("ESPALIER_CONFORMANCE"))
    std::ofstream(std::string(path) + suffix) << text;
  std::cout << text.substr(text.rfind('\n', text.size() - 2) + 1);
}

TEST(Conformance, EveryPromisedOperatorHasALayer) {
  const std::set<std::string> rewritten = {"Constant", "Dropout", "Upsample"};  // by the importer
  for (const std::string& op : kPromised)
    EXPECT_TRUE(rewritten.count(op) != 0 || all_layers().find(op) != nullptr) << op;
}

TEST(Conformance, OperatorsAsImported) {
  run_all(test::plain_executor(all_layers()), ".plain");
}

TEST(Conformance, OperatorsBehindTransposes) {
  run_all(test::transposing_executor(all_layers()), ".transposed");
}

TEST(Conformance, OperatorsOptimised) {
  run_all(test::optimising_executor(all_layers()), ".optimised");
}

TEST(Conformance, OperatorsAsStarpuTasks) {
  starpu::Machine machine;
  run_all(conformance::starpu_executor(machine, all_layers()), ".starpu");
}

}  // namespace
}  // namespace espalier
