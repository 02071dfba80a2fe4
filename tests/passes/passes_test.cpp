#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/passes/bind.hpp"
#include "graphs/passes/eliminate_identity.hpp"
#include "graphs/passes/evaluate.hpp"
#include "graphs/passes/fold_constants.hpp"
#include "graphs/passes/move_transposes.hpp"
#include "graphs/passes/remove_dead_code.hpp"
#include "graphs/passes/share_equal_nodes.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/graph_builder.hpp"

namespace espalier {
namespace {

using test::attributes;
using test::count_op;
using test::GraphBuilder;
using Ints = std::vector<std::int64_t>;

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& n : graph.nodes) {
    ops.push_back(n.op);
    for (const PostOp& p : n.post_ops) ops.back() += "+" + p.op;
  }
  return ops;
}

/// Binds, optimises and checks that every output stays within 1e-5 of the largest value; gives the optimised
/// graph.
Graph optimised(GraphBuilder& b) {
  const Graph plain = bind(b.graph, all_layers(), {});
  Graph better = plain;
  optimise(better, all_layers());
  std::map<std::string, Tensor> inputs;
  for (ValueId v : plain.inputs) inputs[plain.values[v].name] = b.random_tensor(plain.type(v).shape, -2, 2);
  const auto expected = evaluate(plain, all_layers(), inputs);
  const auto actual = evaluate(better, all_layers(), inputs);
  for (const auto& [name, tensor] : expected) {
    EXPECT_EQ(actual.at(name).type(), tensor.type()) << name;
    double largest = 1e-3;
    double difference = 0;
    for (std::size_t i = 0; i < tensor.as<float>().size(); ++i) {
      largest = std::max(largest, std::fabs(double(tensor.as<float>()[i])));
      difference =
          std::max(difference, std::fabs(double(tensor.as<float>()[i]) - actual.at(name).as<float>()[i]));
    }
    EXPECT_LE(difference, 1e-5 * largest) << name;
  }
  return better;
}

ValueId batch_norm(GraphBuilder& b, ValueId x, std::int64_t channels) {
  return b.op("BatchNormalization", {x, b.weights({channels}, 0.5F, 2), b.weights({channels}),
                                     b.weights({channels}), b.weights({channels}, 0.1F, 2)});
}

TEST(FoldBatchNorm, IntoConvolutionsOfEveryKind) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 5, 5, 4});  // channels last
  const ValueId grouped = b.op("Conv", {x, b.weights({6, 2, 3, 3}), b.weights({6})},
                               attributes({{"group", std::int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}}));
  const ValueId transposed = b.op("ConvTranspose", {batch_norm(b, grouped, 6), b.weights({6, 2, 2, 2})},
                                  attributes({{"group", std::int64_t{3}}, {"strides", Ints{2, 2}}}));
  b.output(batch_norm(b, transposed, 6));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Conv", "ConvTranspose"));
}

TEST(FoldBatchNorm, IntoGemmButNotBehindASecondReader) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 4});
  const ValueId y = b.op("Gemm", {x, b.weights({5, 4}), b.weights({1, 5})},
                         attributes({{"transB", std::int64_t{1}}, {"beta", 0.5}}));
  b.output(batch_norm(b, y, 5));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Gemm"));
  b.output(y);
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Gemm", "BatchNormalization"));
}

TEST(FuseBias, MatMulAndVectorIsGemm) {
  GraphBuilder b;
  const ValueId x = b.input("x", {3, 4});
  b.output(b.op("Relu", {b.op("Add", {b.weights({5}), b.op("MatMul", {x, b.weights({4, 5})})})}));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Gemm+Relu"));
}

TEST(FuseBias, ScaleAndShiftByChannelGoIntoTheWeights) {
  GraphBuilder b;
  const ValueId y = b.op("Conv", {b.input("x", {1, 4, 4, 3}), b.weights({5, 3, 1, 1})});
  b.output(b.op("Add", {b.op("Mul", {y, b.weights({1, 1, 1, 5})}), b.weights({5})}));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Conv"));
}

TEST(FuseResidual, AddThenActivationJoinTheLaterConvolution) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 4, 4, 3});
  const ValueId left = b.op("Conv", {x, b.weights({3, 3, 1, 1})});
  const ValueId right =
      b.op("Conv", {b.op("Relu", {b.op("Conv", {x, b.weights({3, 3, 1, 1})})}), b.weights({3, 3, 1, 1})});
  b.output(b.op("Relu", {b.op("Add", {left, right})}));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Conv", "Conv+Relu", "Conv+Add+Relu"));
}

TEST(FuseActivation, NotWhenTheValueBetweenIsReadElsewhere) {
  GraphBuilder b;
  const ValueId y = b.op("Conv", {b.input("x", {1, 4, 4, 3}), b.weights({3, 3, 1, 1})});
  b.output(b.op("Relu", {y}));
  b.output(y);
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Conv", "Relu"));
}

/// Each form of an activation as exporters write it, and what it must become.
struct Form {
  const char* name;
  ValueId (*build)(GraphBuilder&, ValueId x);
  const char* op;
};

const Form kForms[] = {
    {"silu",
     [](GraphBuilder& b, ValueId x) {
       return b.op("Mul", {x, b.op("Sigmoid", {x})});
     },
     "Silu"},
    {"silu_reversed",
     [](GraphBuilder& b, ValueId x) {
       return b.op("Mul", {b.op("Sigmoid", {x}), x});
     },
     "Silu"},
    {"hardswish_hardsigmoid",
     [](GraphBuilder& b, ValueId x) {
       return b.op("Mul", {x, b.op("HardSigmoid", {x}, attributes({{"alpha", 1.0 / 6}, {"beta", 0.5}}))});
     },
     "HardSwish"},
    {"hardswish_clip_then_divide",
     [](GraphBuilder& b, ValueId x) {
       const ValueId clip = b.op("Clip", {b.op("Add", {x, b.scalar(3)}), b.scalar(0), b.scalar(6)});
       return b.op("Div", {b.op("Mul", {x, clip}), b.scalar(6)});
     },
     "HardSwish"},
    {"hardswish_divided_clip",
     [](GraphBuilder& b, ValueId x) {
       const ValueId clip = b.op("Clip", {b.op("Add", {x, b.scalar(3)}), b.scalar(0), b.scalar(6)});
       return b.op("Mul", {x, b.op("Div", {clip, b.scalar(6)})});
     },
     "HardSwish"},
    {"mish",
     [](GraphBuilder& b, ValueId x) {
       return b.op("Mul", {x, b.op("Tanh", {b.op("Softplus", {x})})});
     },
     "Mish"},
    {"gelu_erf",
     [](GraphBuilder& b, ValueId x) {
       const ValueId e = b.op("Erf", {b.op("Div", {x, b.scalar(1.41421354F)})});
       return b.op("Mul", {b.op("Mul", {x, b.op("Add", {e, b.scalar(1)})}), b.scalar(0.5F)});
     },
     "Gelu"},
    {"gelu_erf_half_first",
     [](GraphBuilder& b, ValueId x) {
       const ValueId e = b.op("Erf", {b.op("Mul", {x, b.scalar(0.70710677F)})});
       return b.op("Mul", {b.op("Mul", {b.scalar(0.5F), x}), b.op("Add", {b.scalar(1), e})});
     },
     "Gelu"},
    {"gelu_tanh",
     [](GraphBuilder& b, ValueId x) {
       const ValueId cube = b.op("Mul", {b.op("Pow", {x, b.scalar(3)}), b.scalar(0.044715F)});
       const ValueId t = b.op("Tanh", {b.op("Mul", {b.op("Add", {x, cube}), b.scalar(0.797884583F)})});
       return b.op("Mul", {b.op("Mul", {x, b.scalar(0.5F)}), b.op("Add", {t, b.scalar(1)})});
     },
     "Gelu"},
};

TEST(FusePatterns, FormsThatExportersWrite) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    GraphBuilder b;
    b.output(form.build(b, b.input("x", {4, 25})));
    EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre(form.op));
    // behind a convolution it is fused, though x is read twice
    GraphBuilder c;
    c.output(form.build(c, c.op("Conv", {c.input("x", {1, 4, 4, 3}), c.weights({3, 3, 1, 1})})));
    EXPECT_THAT(ops_of(optimised(c)), testing::ElementsAre(std::string("Conv+") + form.op));
  }
}

TEST(FusePatterns, LookAlikesStay) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 25});
  const ValueId y = b.input("y", {4, 25});
  b.output(b.op("Mul", {x, b.op("Sigmoid", {y})}));      // another value
  b.output(b.op("Mul", {x, b.op("HardSigmoid", {x})}));  // alpha 0.2
  const ValueId e = b.op("Erf", {x});                    // not divided
  b.output(b.op("Mul", {b.op("Mul", {x, b.op("Add", {e, b.scalar(1)})}), b.scalar(0.5F)}));
  const Graph g = optimised(b);
  EXPECT_EQ(count_op(g, "Silu") + count_op(g, "HardSwish") + count_op(g, "Gelu"), 0);
}

ValueId transpose(GraphBuilder& b, ValueId v, const Ints& perm) {
  return b.op("Transpose", {v}, attributes({{"perm", perm}}));
}

TEST(MoveTransposes, MeetTheirInverseBehindOtherOperators) {
  GraphBuilder b;
  const ValueId x = transpose(b, b.input("x", {1, 2, 3, 4}), {0, 3, 1, 2});
  const ValueId y = transpose(b, b.input("y", {1, 2, 3, 4}), {0, 3, 1, 2});
  const ValueId sum = b.op("Add", {b.op("Relu", {x}), b.op("Mul", {y, b.weights({4, 1, 1})})});
  const ValueId both = b.op("Concat", {sum, x}, attributes({{"axis", std::int64_t{1}}}));
  b.output(transpose(b, both, {0, 2, 3, 1}));
  EXPECT_EQ(count_op(optimised(b), "Transpose"), 0);
}

TEST(MoveTransposes, OfExtentsOneAreReshapesAndJoin) {
  GraphBuilder b;
  const ValueId x = transpose(b, b.input("x", {3, 1, 1, 5}), {0, 3, 1, 2});
  b.output(b.op("Gemm", {b.op("Flatten", {x}), b.weights({5, 2})}));
  EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Reshape", "Gemm"));
}

TEST(MoveTransposes, OutputsKeepTheirOrderAndOthersAreSharedOnce) {
  GraphBuilder b;
  const ValueId x = transpose(b, b.input("x", {2, 3, 4}), {0, 2, 1});
  const ValueId y = b.op("Relu", {x});
  b.output(y);
  b.output(b.op("MatMul", {y, b.weights({3, 2})}));
  b.output(b.op("MatMul", {y, b.weights({3, 5})}));
  EXPECT_EQ(count_op(optimised(b), "Transpose"), 1);
}

TEST(EliminateIdentity, KeepsTheNamesOfOutputs) {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 3});
  const ValueId y = b.op("Identity", {b.op("Relu", {b.op("Add", {b.op("Identity", {x}), b.scalar(0)})})});
  b.output(y);
  b.output(b.op("Identity", {x}));  // an input given on as it is: this one must stay
  b.output(b.op("Neg", {y}));
  const Graph g = optimised(b);
  EXPECT_THAT(ops_of(g), testing::UnorderedElementsAre("Relu", "Identity", "Neg"));
}

TEST(FoldConstants, StopsWhereResultsWouldBeLarge) {
  GraphBuilder b;
  const ValueId large = b.op("Expand", {b.scalar(1), b.ints({4000, 4000})});
  const ValueId small = b.op("Expand", {b.scalar(1), b.ints({4})});
  b.output(large);
  b.output(small);
  Binding binding;
  binding.max_folded_bytes = 1 << 20;
  EXPECT_THAT(ops_of(bind(b.graph, all_layers(), binding)), testing::ElementsAre("Expand"));
}

TEST(RemoveDeadCode, DropsNodesOutputsAndValues) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4, 2});
  b.op("Relu", {b.op("Neg", {x})});
  const auto parts = b.op_with_outputs(
      "Split", {x}, 2, attributes({{"axis", std::int64_t{0}}, {"num_outputs", std::int64_t{2}}}));
  b.output(parts[0]);
  remove_dead_code(b.graph);
  b.graph.validate();
  EXPECT_THAT(ops_of(b.graph), testing::ElementsAre("Split"));
  EXPECT_EQ(b.graph.values.size(), b.graph.inputs.size() + b.graph.nodes[0].outputs.size());
}

TEST(ShareEqualNodes, ChainsOfThemCollapse) {
  GraphBuilder b;
  const ValueId x = b.input("x", {4});
  const ValueId a = b.op("Neg", {b.op("Relu", {x})});
  const ValueId c = b.op("Neg", {b.op("Relu", {x})});
  b.output(b.op("Add", {a, c}));
  share_equal_nodes(b.graph);
  EXPECT_THAT(ops_of(b.graph), testing::ElementsAre("Relu", "Neg", "Add"));
}

TEST(FusePointwiseDepthwise, OnlyWhereTheWideTensorIsLarge) {
  for (const std::int64_t extent : {64, 16}) {
    GraphBuilder b;
    const ValueId x = b.input("x", {2, extent, extent, 8});  // channels last
    const ValueId wide = b.op("Relu", {b.op("Conv", {x, b.weights({48, 8, 1, 1}), b.weights({48})})});
    const ValueId y = b.op("Conv", {wide, b.weights({48, 1, 3, 3}), b.weights({48})},
                           attributes({{"group", std::int64_t{48}}, {"pads", Ints{1, 1, 1, 1}}}));
    b.output(b.op("Silu", {y}));
    // 64 x 64 x 48 floats are 786 kB, 16 x 16 x 48 are 49 kB
    if (extent == 64)
      EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("PointwiseDepthwise+Silu"));
    else
      EXPECT_THAT(ops_of(optimised(b)), testing::ElementsAre("Conv+Relu", "Conv+Silu"));
  }
}

}  // namespace
}  // namespace espalier
