#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/onnx_model.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& op, const std::vector<std::int64_t>& dims) {
  test::OnnxModel m;
  m.input("x", dims);
  std::int64_t elements = 1;
  for (const std::int64_t d : dims) elements *= d;
  m.floats("w", dims, std::vector<float>(static_cast<std::size_t>(elements), 1.0F));
  const bool weighted = op == "Conv" || op == "ConvTranspose";
  m.node(op, weighted ? std::vector<std::string>{"x", "w"} : std::vector<std::string>{"x"}, {"y"});
  m.output("y");
  try {
    bind(import_onnx_bytes(m.bytes(), "low.onnx", all_layers()), all_layers(), {});
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

/// A weight of as few axes as the input once made a vector of -1 kernel extents.
TEST(LowRank, SpatialOperatorsRefuseInputsWithoutBatchAndChannels) {
  for (const char* op :
       {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "LRN", "DepthToSpace"})
    for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {4}})
      EXPECT_THAT(refusal(op, dims), HasSubstr("at least 2, are needed")) << op << " of rank " << dims.size();
}

}  // namespace
}  // namespace espalier
