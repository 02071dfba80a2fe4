#include "graphs/ir/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

std::string file(const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY\x01";
  bytes += '\0';
  bytes += static_cast<char>(header.size());
  bytes += '\0';
  return bytes + header + data;
}

std::string error_of(const std::string& bytes) {
  try {
    parse_npy(bytes, "x.npy");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Npy, EveryDtypeSurvivesARoundTrip) {
  for (DType t : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32,
                  DType::i64, DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean}) {
    Tensor tensor(t, {2, 3});
    auto* p = static_cast<char*>(tensor.mutable_data());
    for (std::int64_t i = 0; i < tensor.bytes(); ++i) p[i] = static_cast<char>(i % 2);
    const Tensor again = parse_npy(to_npy(tensor), "x.npy");
    EXPECT_EQ(again.type(), tensor.type());
    EXPECT_EQ(std::string_view(static_cast<const char*>(again.data()), 6), std::string_view(p, 6));
  }
  EXPECT_EQ(parse_npy(to_npy(Tensor::scalar(3.0F)), "x.npy").as<float>()[0], 3.0F);
  EXPECT_EQ(parse_npy(to_npy(Tensor(DType::f32, {0, 2})), "x.npy").shape(), (Shape{0, 2}));
}

TEST(Npy, FortranOrder) {
  // columns first: [[1, 2, 3], [4, 5, 6]] is stored as 1 4 2 5 3 6
  const std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }";
  const Tensor t = parse_npy(file(header, "\1\4\2\5\3\6"), "x.npy");
  EXPECT_THAT(t.to_int64(), testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Npy, BadFilesAreRefused) {
  EXPECT_THAT(error_of("hello"), testing::HasSubstr("x.npy: not a NumPy"));
  EXPECT_THAT(error_of(file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd")),
              testing::HasSubstr("'>f4'"));
  EXPECT_THAT(error_of(file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "abcd")),
              testing::HasSubstr("'|O'"));
  EXPECT_THAT(error_of(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
              testing::HasSubstr("structured"));
  EXPECT_THAT(error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcd")),
              testing::HasSubstr("needs 8"));
  EXPECT_THAT(
      error_of(file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999, 99999999, 9), }", "")),
      testing::HasSubstr("too large"));
  const std::string good = to_npy(Tensor(DType::f32, {2, 2}));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(error_of(good.substr(0, n)), "no error") << n;
}

}  // namespace
}  // namespace espalier
