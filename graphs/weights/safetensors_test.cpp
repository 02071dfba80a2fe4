#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/weights/weights.hpp"

namespace espalier {
namespace {

std::string file(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    read_weights_bytes(bytes, "w.safetensors");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Safetensors, ReadsTensorsOfEveryType) {
  struct Case {
    const char* spelling;
    DType dtype;
  };
  for (const Case& c :
       {Case{"F32", DType::f32}, Case{"F64", DType::f64}, Case{"F16", DType::f16}, Case{"BF16", DType::bf16},
        Case{"I8", DType::i8}, Case{"I16", DType::i16}, Case{"I32", DType::i32}, Case{"I64", DType::i64},
        Case{"U8", DType::u8}, Case{"U16", DType::u16}, Case{"U32", DType::u32}, Case{"U64", DType::u64},
        Case{"BOOL", DType::boolean}}) {
    const std::size_t size = 6 * size_of(c.dtype);
    const std::string header = std::string(R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":")") +
                               c.spelling + R"(","shape":[2,3],"data_offsets":[0,)" + std::to_string(size) +
                               "]}}";
    const Weights w = read_weights_bytes(file(header, std::string(size, '\0')), "w");
    ASSERT_EQ(w.tensors.size(), 1U) << c.spelling;
    EXPECT_EQ(w.tensors.at("a.weight").type(), (TensorType{c.dtype, Shape{2, 3}})) << c.spelling;
  }
}

TEST(Safetensors, ReadsValuesInOffsetOrder) {
  const float values[] = {1, 2, 3};
  const std::string data(reinterpret_cast<const char*>(values), sizeof values);
  const Weights w = read_weights_bytes(
      file(
          R"({"b":{"dtype":"F32","shape":[],"data_offsets":[8,12]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
          data),
      "w");
  EXPECT_THAT(w.tensors.at("a").as<float>(), testing::ElementsAre(1, 2));
  EXPECT_THAT(w.tensors.at("b").as<float>(), testing::ElementsAre(3));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(w.tensors.at("b").data()) % 64, 0U);
}

TEST(Safetensors, RefusesWhatTheSpecificationForbids) {
  using testing::HasSubstr;
  const std::string f8(8, '\0');
  const auto one = [](const std::string& body) { return R"({"t":{)" + body + "}}"; };
  EXPECT_THAT(error_of(file(one(R"("dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8])"), f8)),
              HasSubstr("F8_E4M3 is not supported; accepted are F32"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,12])"), f8)),
              HasSubstr("within the 8 bytes"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), f8)),
              HasSubstr("float32 [3] does not fill its 8 bytes"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,8])"), f8)),
              HasSubstr("does not fill"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,8])"), f8)),
              HasSubstr("shape must be a list of integers"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), f8)),
              HasSubstr("belong to no tensor"));
  EXPECT_THAT(error_of(file(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), f8)),
              HasSubstr("4 bytes at the end belong to no tensor"));
  EXPECT_THAT(error_of(file(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                            R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                            f8)),
              HasSubstr("overlaps"));
  EXPECT_THAT(error_of(file(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                            R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                            f8)),
              HasSubstr("a is listed twice"));
  EXPECT_THAT(error_of(file("{\"a\":", "")), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(file("{}", "")), HasSubstr("no tensors"));
  EXPECT_THAT(error_of(file(std::string(1000, ' '), "").substr(0, 8) + "{\"a\""), HasSubstr("cut short"));
  std::string huge = file("{}", "");
  huge[4] = 1;  // 2^32 bytes of header
  EXPECT_THAT(error_of(huge), HasSubstr("at most 100000000"));
}

}  // namespace
}  // namespace espalier
