#include "graphs/onnx/tensor_proto.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/onnx/import.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using onnx::TensorProto;
using testing::ElementsAre;
using testing::HasSubstr;

TensorProto proto_of(int type, const std::vector<std::int64_t>& dims) {
  TensorProto p;
  p.set_name("w");
  p.set_data_type(type);
  for (std::int64_t d : dims) p.add_dims(d);
  return p;
}

std::string error_of(TensorProto p, const fs::path& folder = {}) {
  try {
    to_tensor(p, folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TensorProtos, TypedFieldsOfEveryDtype) {
  for (int type : {TensorProto::INT32, TensorProto::INT16, TensorProto::INT8, TensorProto::UINT16,
                   TensorProto::UINT8, TensorProto::BOOL}) {
    TensorProto p = proto_of(type, {2});
    p.add_int32_data(1);
    p.add_int32_data(0);
    EXPECT_THAT(to_tensor(p, {}).to_int64(), ElementsAre(1, 0));
  }
  TensorProto h = proto_of(TensorProto::FLOAT16, {1});
  h.add_int32_data(0x3c00);  // 1 in IEEE half
  EXPECT_THAT(to_tensor(h, {}).to_double(), ElementsAre(1));
  TensorProto u = proto_of(TensorProto::UINT32, {1});
  u.add_uint64_data(4000000000U);
  EXPECT_THAT(to_tensor(u, {}).to_int64(), ElementsAre(4000000000));
  TensorProto d = proto_of(TensorProto::DOUBLE, {});
  d.add_double_data(0.5);
  EXPECT_THAT(to_tensor(d, {}).to_double(), ElementsAre(0.5));
}

TEST(TensorProtos, DataThatDoesNotMatchTheShape) {
  TensorProto p = proto_of(TensorProto::FLOAT, {3});
  p.add_float_data(1);
  EXPECT_THAT(error_of(p), HasSubstr("tensor 'w': 1 values, float32 [3] needs 3"));
  TensorProto raw = proto_of(TensorProto::FLOAT, {3});
  raw.set_raw_data("abcd");
  EXPECT_THAT(error_of(raw), HasSubstr("4 bytes of data, float32 [3] needs 12"));
  EXPECT_THAT(error_of(proto_of(TensorProto::FLOAT, {std::int64_t{1} << 40, std::int64_t{1} << 40})),
              HasSubstr("not accepted"));
  EXPECT_THAT(error_of(proto_of(TensorProto::FLOAT, {-1})), HasSubstr("not accepted"));
  EXPECT_THAT(error_of(proto_of(TensorProto::STRING, {1})), HasSubstr("STRING is not supported"));
  EXPECT_THAT(error_of(proto_of(TensorProto::COMPLEX64, {1})), HasSubstr("COMPLEX64"));
}

/// A folder with w.bin (1 2 3 4 as floats), a link that stays inside and one that leads out.
class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "external.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    folder_ = root_ / "model";
    fs::create_directory(folder_);
    const std::vector<float> values = {1, 2, 3, 4};
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), 16);
    write_file(folder_ / "w.bin", bytes);
    write_file(root_ / "secret.bin", bytes);
    fs::create_symlink("w.bin", folder_ / "inside.bin");
    fs::create_symlink("../secret.bin", folder_ / "outside.bin");
    fs::create_directory_symlink("..", folder_ / "up");
  }
  void TearDown() override { fs::remove_all(root_); }

  static TensorProto external(const std::string& location, const std::string& offset = "",
                              const std::string& length = "") {
    TensorProto p = proto_of(TensorProto::FLOAT, {2});
    p.set_data_location(TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::pair("location", location), {"offset", offset}, {"length", length}}) {
      if (value.empty()) continue;
      auto* entry = p.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return p;
  }

  fs::path root_;
  fs::path folder_;
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  TensorProto p = external("w.bin", "8", "8");
  EXPECT_THAT(to_tensor(p, folder_).to_double(), ElementsAre(3, 4));
  TensorProto link = external("inside.bin");
  EXPECT_THAT(to_tensor(link, folder_).to_double(), ElementsAre(1, 2));
}

TEST_F(ExternalData, OutsideTheFolderIsRefused) {
  EXPECT_THAT(error_of(external((folder_ / "w.bin").string()), folder_), HasSubstr("relative to the model"));
  EXPECT_THAT(error_of(external("../secret.bin"), folder_), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(error_of(external("a/../../secret.bin"), folder_), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(error_of(external("outside.bin"), folder_), HasSubstr("leads out"));
  EXPECT_THAT(error_of(external("up/secret.bin"), folder_), HasSubstr("leads out"));
  EXPECT_THAT(error_of(external("w.bin")), HasSubstr("not read from a folder"));
}

TEST_F(ExternalData, OffsetsAndLengthsAreChecked) {
  EXPECT_THAT(error_of(external("w.bin", "12"), folder_), HasSubstr("has 16 bytes, 8 at offset 12"));
  EXPECT_THAT(error_of(external("w.bin", "0", "4"), folder_), HasSubstr("length of 4 bytes"));
  EXPECT_THAT(error_of(external("w.bin", "-1"), folder_), HasSubstr("offset is '-1'"));
  EXPECT_THAT(error_of(external("w.bin", "99999999999999999999"), folder_), HasSubstr("offset is"));
  EXPECT_THAT(error_of(external("missing.bin"), folder_), HasSubstr("missing.bin"));
  EXPECT_THAT(error_of(external("."), folder_), HasSubstr("not a regular file"));
  TensorProto huge = external("w.bin");
  huge.set_dims(0, std::int64_t{1} << 45);
  EXPECT_THAT(error_of(huge, folder_), HasSubstr("has 16 bytes"));
}

}  // namespace
}  // namespace espalier
