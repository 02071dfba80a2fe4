#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <zip.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/weights/weights.hpp"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

std::string error_of(const std::string& bytes) {
  try {
    read_weights_bytes(bytes, "w.pth");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

std::filesystem::path testdata(const char* name) {
  const char* root = std::getenv("ESPALIER_SOURCE");
  return std::filesystem::path(root != nullptr ? root : ".") / "graphs/weights/testdata" / name;
}

/// Operations of a pickle, enough for a state dictionary.
std::string text(const std::string& s) {
  return "X"s + static_cast<char>(s.size()) + "\0\0\0"s + s;
}
std::string integer(std::int64_t i) {
  std::string s = "\x8a\x08";
  for (int b = 0; b < 8; ++b) s += static_cast<char>(i >> (8 * b) & 0xff);
  return s;
}
std::string integers(const std::vector<std::int64_t>& values) {
  std::string s = "(";
  for (std::int64_t v : values) s += integer(v);
  return s + "t";
}
std::string tensor(const std::string& key, std::int64_t elements, std::int64_t offset,
                   const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& stride) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\nFloatStorage\n" + text(key) +
         text("cpu") + integer(elements) + "tQ" + integer(offset) + integers(size) + integers(stride) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}
std::string dict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string s = "}(";
  for (const auto& [key, value] : entries) s += text(key) + value;
  return s + "u";
}
std::string pickled(const std::string& value) {
  return "\x80\x02" + value + ".";
}

std::string floats(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0.0F);
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members, bool compressed = false) {
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, nullptr);
  zip_source_keep(memory);
  zip_t* z = zip_open_from_source(memory, ZIP_TRUNCATE, nullptr);
  for (const auto& [name, content] : members) {
    const auto i = zip_file_add(z, name.c_str(), zip_source_buffer(z, content.data(), content.size(), 0), 0);
    zip_set_file_compression(z, static_cast<zip_uint64_t>(i), compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  zip_close(z);
  zip_source_open(memory);
  zip_source_seek(memory, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(zip_source_tell(memory)), '\0');
  zip_source_seek(memory, 0, SEEK_SET);
  zip_source_read(memory, bytes.data(), bytes.size());
  zip_source_close(memory);
  zip_source_free(memory);
  return bytes;
}

std::string zip_checkpoint(const std::string& object, int elements, bool compressed = false) {
  return zip_of({{"archive/data.pkl", pickled(object)},
                 {"archive/byteorder", "little"},
                 {"archive/data/0", floats(elements)}},
                compressed);
}

std::string legacy_checkpoint(const std::string& object, int elements) {
  std::string bytes = pickled("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") + pickled(integer(1001)) +
                      pickled(dict({{"little_endian", "\x88"}})) + pickled(object) +
                      pickled("](" + text("0") + "e");
  for (int b = 0; b < 8; ++b)
    bytes += static_cast<char>(static_cast<std::uint64_t>(elements) >> (8 * b) & 0xff);
  return bytes + floats(elements);
}

void check_file_of_torch(const Weights& w) {
  EXPECT_EQ(w.tensors.count("module.f32"), 0U);
  ASSERT_EQ(w.tensors.at("f32").type(), (TensorType{DType::f32, Shape{2, 3, 4}}));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(w.tensors.at("f32").as<float>()[static_cast<std::size_t>(i)], i);
  // arange(24) cut in two: [3, 4] from 0 and [4, 3] from 12
  EXPECT_EQ(w.tensors.at("shared_a").as<float>()[11], 11);
  EXPECT_EQ(w.tensors.at("shared_b").shape(), (Shape{4, 3}));
  EXPECT_EQ(w.tensors.at("shared_b").as<float>()[0], 12);
  // [4, 6] transposed: element (i, j) = 6 j + i
  const Tensor& t = w.tensors.at("transposed");
  EXPECT_EQ(t.shape(), (Shape{6, 4}));
  EXPECT_THAT(t.as<float>().subspan(0, 5), ElementsAre(0, 6, 12, 18, 1));
  EXPECT_THAT(w.tensors.at("parameter").as<float>(), ElementsAre(0, 0.5F, 1, 1.5F, 2));
  for (const char* name : {"float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
                           "uint16", "uint32", "uint64"}) {
    ASSERT_EQ(w.tensors.count(name), 1U) << name;
    EXPECT_EQ(name_of(w.tensors.at(name).dtype()), name);
    EXPECT_THAT(w.tensors.at(name).to_double(), ElementsAre(0, 1, 2, 3)) << name;
  }
  EXPECT_THAT(w.tensors.at("bool").to_double(), ElementsAre(0, 1, 1, 1));
  EXPECT_EQ(w.tensors.at("num_batches_tracked").shape(), Shape{});
  EXPECT_EQ(w.tensors.at("num_batches_tracked").as<std::int64_t>()[0], 7);
  EXPECT_EQ(w.tensors.at("empty").shape(), (Shape{0, 3}));
}

TEST(ReadWeights, ZipOfTorchSave) {
  check_file_of_torch(read_weights(testdata("zip.pth")));
}

TEST(ReadWeights, LegacyStreamOfTorchSave) {
  check_file_of_torch(read_weights(testdata("legacy.pth")));
}

TEST(ReadWeights, EveryTruncationIsAnInputError) {
  for (const char* name : {"zip.pth", "legacy.pth"}) {
    const std::string whole = read_file(testdata(name));
    for (std::size_t n = 0; n < whole.size(); n += 7)
      EXPECT_NE(error_of(whole.substr(0, n)), "accepted") << n;
  }
}

TEST(ReadWeights, ViewsOfOneStorage) {
  const std::string object = dict({{"a", tensor("0", 32, 0, {2, 8}, {8, 1})},
                                   {"b", tensor("0", 32, 16, {16}, {1})},
                                   {"c", tensor("0", 32, 1, {2, 2}, {1, 2})}});
  for (const std::string& bytes :
       {zip_checkpoint(object, 32), legacy_checkpoint(object, 32), zip_checkpoint(object, 32, true)}) {
    const Weights w = read_weights_bytes(bytes, "w");
    EXPECT_EQ(w.tensors.at("a").as<float>()[15], 15);
    EXPECT_EQ(w.tensors.at("b").as<float>()[0], 16);
    EXPECT_THAT(w.tensors.at("c").as<float>(), ElementsAre(1, 3, 2, 4));
    // 16 floats are 64 bytes: both views share the storage's memory
    EXPECT_EQ(static_cast<const char*>(w.tensors.at("b").data()) -
                  static_cast<const char*>(w.tensors.at("a").data()),
              64);
  }
}

TEST(ReadWeights, FindsTheStateDictionaryAndDropsModule) {
  const std::string state =
      dict({{"module.w", tensor("0", 4, 0, {4}, {1})}, {"module.n", tensor("0", 4, 0, {}, {})}});
  for (const char* holder : {"model", "state_dict", "model_state_dict"}) {
    const Weights w =
        read_weights_bytes(zip_checkpoint(dict({{"epoch", "K\x05"}, {holder, state}, {"lr", "N"}}), 4), "w");
    EXPECT_EQ(w.tensors.size(), 2U);
    EXPECT_EQ(w.tensors.count("w"), 1U);
  }
  const Weights beside = read_weights_bytes(
      zip_checkpoint(dict({{"loss", tensor("0", 4, 0, {}, {})}, {"model", state}}), 4), "w");
  EXPECT_EQ(beside.tensors.count("w"), 1U);
  EXPECT_THAT(
      error_of(zip_checkpoint(dict({{"epoch", "K\x05"}, {"optimizer", "}"}}), 4)),
      HasSubstr("it has epoch, optimizer; accepted are a state dictionary, or one under state_dict, model"));
  EXPECT_THAT(error_of(zip_checkpoint("K\x05", 4)), HasSubstr("holds a int; a state dictionary is needed"));
}

TEST(ReadWeights, RefusesCodeByName) {
  const std::string bad = "cos\nsystem\n" + text("true") + "\x85R";
  EXPECT_THAT(error_of(zip_checkpoint(bad, 4)), HasSubstr("w.pth: refuses to build os.system"));
  EXPECT_THAT(error_of(legacy_checkpoint(bad, 4)), HasSubstr("w.pth: refuses to build os.system"));
  const std::string hidden = dict({{"w", tensor("0", 4, 0, {4}, {1})}, {"x", bad}});
  EXPECT_THAT(error_of(zip_checkpoint(hidden, 4)), HasSubstr("os.system"));
  EXPECT_THAT(error_of(zip_checkpoint("ctorchvision.models.resnet\nResNet\n)\x81", 4)),
              HasSubstr("torchvision.models.resnet.ResNet: only tensors"));
}

TEST(ReadWeights, RefusesTensorsOutsideTheirStorage) {
  const auto with = [](const std::string& t) { return dict({{"w", t}}); };
  constexpr std::int64_t big = std::int64_t{1} << 62;
  for (const std::string& t :
       {tensor("0", 4, 1, {4}, {1}), tensor("0", 4, 0, {2, 2}, {3, 1}), tensor("0", 4, -1, {2}, {1}),
        tensor("0", 4, 0, {-1}, {1}), tensor("0", 4, 0, {big, big}, {0, 0}), tensor("0", 4, 0, {1000}, {0}),
        tensor("0", 4, 0, {2}, {big}), tensor("0", 4, big, {big}, {big})}) {
    EXPECT_THAT(error_of(zip_checkpoint(with(t), 4)), HasSubstr("tensor w: "));
    EXPECT_THAT(error_of(legacy_checkpoint(with(t), 4)), HasSubstr("tensor w: "));
  }
  EXPECT_THAT(error_of(zip_checkpoint(with(tensor("0", 5, 0, {5}, {1})), 4)),
              HasSubstr("storage 0 needs 20 bytes, its member has 16"));
  EXPECT_THAT(error_of(legacy_checkpoint(with(tensor("0", 5, 0, {5}, {1})), 4)), HasSubstr("needs 20 bytes"));
  EXPECT_THAT(error_of(zip_checkpoint(with(tensor("7", 4, 0, {4}, {1})), 4)),
              HasSubstr("archive/data/7 is not in"));
  EXPECT_THAT(error_of(zip_checkpoint(with(tensor("0", big, 0, {4}, {1})), 4)), HasSubstr("tensor w: "));
}

TEST(ReadWeights, CopiesOfViewsAreBounded) {
  // each of 200 names is a transposed copy of the same 64 KiB: 12.8 MB from a file of some 100 KiB
  std::vector<std::pair<std::string, std::string>> entries;
  for (int i = 0; i < 200; ++i)
    entries.emplace_back("t" + std::to_string(i), tensor("0", 16384, 0, {128, 128}, {1, 128}));
  EXPECT_THAT(error_of(zip_checkpoint(dict(entries), 16384)), HasSubstr("unfold"));
}

TEST(ReadWeights, BigEndianStoragesAreTurned) {
  std::string swapped = floats(4);
  for (std::size_t i = 0; i < swapped.size(); i += 4)
    std::reverse(swapped.begin() + i, swapped.begin() + i + 4);
  const Weights w =
      read_weights_bytes(zip_of({{"a/data.pkl", pickled(dict({{"w", tensor("0", 4, 0, {4}, {1})}}))},
                                 {"a/byteorder", "big"},
                                 {"a/data/0", swapped}}),
                         "w");
  EXPECT_THAT(w.tensors.at("w").as<float>(), ElementsAre(0, 1, 2, 3));
}

TEST(ReadWeights, NamesOtherFormats) {
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty; accepted are safetensors and PyTorch checkpoints"));
  EXPECT_THAT(error_of("hello, world"), HasSubstr("format is not known"));
  std::string tar(512, '\0');
  std::memcpy(tar.data() + 257, "ustar", 5);
  EXPECT_THAT(error_of(tar), HasSubstr("tar archive (PyTorch before 0.1.10)"));
  EXPECT_THAT(error_of("\x89HDF\r\n"), HasSubstr("HDF5"));
  EXPECT_THAT(error_of(zip_of({{"x.txt", "x"}})), HasSubstr("without data.pkl"));
  EXPECT_THAT(error_of(pickled("N")), HasSubstr("not one of torch.save"));
  EXPECT_THROW(read_weights("/nonexistent/w.pth"), InputError);
  EXPECT_THROW(read_weights("/"), InputError);
}

}  // namespace
}  // namespace espalier
