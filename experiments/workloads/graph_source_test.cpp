#include "experiments/workloads/graph_source.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/workloads/listings.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& graph, const ParameterChoice& choice = {}) {
  try {
    load_network(graph, all_layers(), choice);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(GraphSource, TellsWhatAGraphIs) {
  EXPECT_EQ(kind_of_graph("resnet50"), GraphKind::network);
  EXPECT_EQ(kind_of_graph("a/b.stg"), GraphKind::task_graph);
  const NetworkSource source = load_network("resnet18", all_layers());
  EXPECT_EQ(source.network, &network_named("resnet18"));
  EXPECT_TRUE(source.warnings.empty());
}

TEST(GraphSource, RefusalsSayWhatIsAccepted) {
  EXPECT_THAT(error_of("resnet51"),
              HasSubstr("resnet51: is neither a file nor a network's name; accepted are an .onnx"));
  EXPECT_THAT(error_of("resnet51"), HasSubstr("resnet50"));
  EXPECT_THAT(error_of("missing.onnx"), HasSubstr("missing.onnx: is missing"));
  EXPECT_THAT(error_of("/"), HasSubstr("is a folder"));
  EXPECT_THAT(error_of("w.pth"), HasSubstr("name the network and give it as --weights"));
  EXPECT_THAT(error_of("a.stg"), HasSubstr("a task graph has no tensors"));
  EXPECT_THAT(error_of("resnet18", {"/nonexistent.pth", {}}), HasSubstr("/nonexistent.pth: cannot be read"));
}

TEST(GraphSource, WeightsOfAnotherNetworkNameWhatIsMissing) {
  const auto path = std::filesystem::temp_directory_path() / "espalier_graph_source_test.safetensors";
  const std::string header = R"({"extra":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file(path, bytes + header + std::string(4, '\0'));
  EXPECT_THAT(error_of("squeezenet1_0", {path.string(), {}}),
              HasSubstr("parameter features.0.weight [96, 3, 7, 7] is missing; the file has extra [1]"));
  std::filesystem::remove(path);
}

TEST(GraphSource, PreprocessingIsThatOfThePublishedWeights) {
  const Preprocessing resnet = preprocessing_of(network_named("resnet50"));
  EXPECT_EQ(resnet.mean, preprocessing_named("imagenet").mean);
  EXPECT_EQ(resnet.std, preprocessing_named("imagenet").std);
  EXPECT_EQ(resnet.resize, 256);
  // transform_input of torchvision: ImageNet's normalisation undone and (x - 1/2) / (1/2) put in its place
  EXPECT_EQ(preprocessing_of(network_named("googlenet")).mean[0], 0.5);
  EXPECT_EQ(preprocessing_of(network_named("inception_v3")).crop, 299);
  EXPECT_THROW(preprocessing_of(network_named("lstm")), InputError);
}

TEST(GraphSource, ImagesInPyTorchsOrderAreTurned) {
  const Graph network = load_network("resnet18", all_layers()).graph;
  Tensor planes(DType::f32, Shape{1, 3, 2, 2});
  for (int i = 0; i < 12; ++i)
    planes.as_mutable<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i);
  // pixel p has the channels p, 4 + p, 8 + p
  const Tensor turned = image_in_order(network, "input", planes);
  EXPECT_EQ(turned.shape(), (Shape{1, 2, 2, 3}));
  EXPECT_THAT(turned.as<float>(), testing::ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_EQ(image_in_order(network, "other", planes).shape(), planes.shape());
  EXPECT_EQ(image_in_order(network, "input", turned).data(), turned.data());
}

TEST(GraphSource, TensorFlowsLiteIsToldByItsNames) {
  const auto path = std::filesystem::temp_directory_path() / "espalier_graph_source_lite.safetensors";
  const std::string header = R"({"_conv_stem.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  write_file(path, bytes + header + std::string(4, '\0'));
  EXPECT_THAT(error_of("efficientnet_lite0", {path.string(), {}}),
              HasSubstr("_conv_stem.weight has shape [1], the network needs [32, 3, 3, 3]"));
  std::filesystem::remove(path);
}

TEST(Listings, EveryKindHasFullRows) {
  for (const ListedKind& kind : all_listed_kinds()) {
    const Listing listing = list_things(kind.name);
    EXPECT_FALSE(listing.rows.empty()) << kind.name;
    for (const auto& row : listing.rows) EXPECT_EQ(row.size(), listing.columns.size()) << kind.name;
    EXPECT_EQ(listing.columns.at(0), "name");
  }
  EXPECT_THROW(list_things("wires"), InputError);
}

}  // namespace
}  // namespace espalier
