#include "graphs/weights/unpickle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"

namespace espalier::pickle {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

Pickle read(const std::string& bytes) {
  std::size_t position = 0;
  Pickle p = unpickle(bytes, position);
  EXPECT_EQ(position, bytes.size());
  return p;
}

std::string error_of(const std::string& bytes) {
  try {
    std::size_t position = 0;
    unpickle(bytes, position);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Unpickle, Integers) {
  EXPECT_EQ(read("\x80\x02K\x07."s).top().integer, 7);
  EXPECT_EQ(read("\x80\x02M\x01\x02."s).top().integer, 513);
  EXPECT_EQ(read("\x80\x02J\xff\xff\xff\xff."s).top().integer, -1);
  EXPECT_EQ(read("\x80\x02\x8a\x02\x00\xff."s).top().integer, -256);
  EXPECT_EQ(read("\x80\x02\x8a\x00."s).top().integer, 0);
  EXPECT_EQ(read("\x80\x02\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80."s).top().integer, INT64_MIN);
  EXPECT_EQ(read("\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00."s).top().kind, Kind::big_integer);
  EXPECT_EQ(read("I42\n."s).top().integer, 42);
  EXPECT_EQ(read("I01\n."s).top().kind, Kind::boolean);
  EXPECT_EQ(read("L-5L\n."s).top().integer, -5);
}

TEST(Unpickle, TextAndReals) {
  EXPECT_EQ(read("\x80\x02X\x03\x00\x00\x00"
                 "abc."s)
                .top()
                .text,
            "abc");
  EXPECT_EQ(read("\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi\x94."s).top().text, "hi");
  EXPECT_EQ(read("S'x'\n."s).top().text, "x");
  EXPECT_EQ(read("\x80\x02G\x3f\xe8\x00\x00\x00\x00\x00\x00."s).top().real, 0.75);
  EXPECT_EQ(read("F0.5\n."s).top().real, 0.5);
  EXPECT_EQ(read("\x80\x03"
                 "C\x02\x00\x01."s)
                .top()
                .text.size(),
            2U);
}

TEST(Unpickle, ContainersShareReferences) {
  // {"a": [1, None], "b": the same list}
  const Pickle p = read(
      "\x80\x02}(X\x01\x00\x00\x00"
      "a](K\x01Neq\x00X\x01\x00\x00\x00"
      "bh\x00u."s);
  const Value* a = p.find(p.top(), "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a, p.find(p.top(), "b"));
  EXPECT_EQ(a->items.size(), 2U);
  EXPECT_EQ(read("\x80\x02K\x01K\x02\x86."s).top().kind, Kind::tuple);
  EXPECT_EQ(read("\x80\x04\x8f(K\x01K\x02\x90."s).top().items.size(), 2U);
}

TEST(Unpickle, AListMayHoldItself) {
  const Pickle p = read(
      "\x80\x02]q\x00h\x00"
      "a."s);
  EXPECT_EQ(p.top().items.at(0), p.root);
}

TEST(Unpickle, OrderedDictAndSetAreData) {
  EXPECT_EQ(read("\x80\x02"
                 "ccollections\nOrderedDict\n)R."s)
                .top()
                .kind,
            Kind::dict);
  // OrderedDict([["a", 1]]) as old Pythons write it
  const Pickle p = read(
      "\x80\x02"
      "ccollections\nOrderedDict\n](](U\x01"
      "aK\x01"
      "ee\x85R."s);
  EXPECT_EQ(p.find(p.top(), "a")->integer, 1);
  EXPECT_EQ(read("\x80\x02"
                 "c__builtin__\nset\n](K\x01"
                 "e\x85R."s)
                .top()
                .kind,
            Kind::set);
}

TEST(Unpickle, RefusesByName) {
  EXPECT_THAT(error_of("\x80\x02"
                       "cos\nsystem\nX\x02\x00\x00\x00ls\x85R."s),
              HasSubstr("refuses to build os.system"));
  EXPECT_THAT(error_of("cposix\nsystem\n(S'ls'\ntR."s), HasSubstr("refuses to build posix.system"));
  EXPECT_THAT(error_of("\x80\x04\x8c\x08"
                       "builtins\x8c\x04"
                       "eval\x93."s),
              HasSubstr("refuses to build builtins.eval"));
  EXPECT_THAT(error_of("(S'ls'\nios\nsystem\n."s), HasSubstr("refuses to build os.system"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch._utils\n_rebuild_sparse_tensor\n."s),
              HasSubstr("_rebuild_sparse_tensor"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ccollections\nOrderedDict.__init__\n."s),
              HasSubstr("refuses to build"));
  EXPECT_THAT(error_of("\x80\x02"
                       "ctorch\nFloatStorage\n)R."s),
              HasSubstr("refuses to call torch.FloatStorage"));
  EXPECT_THAT(error_of("\x80\x02K\x01)R."s), HasSubstr("refuses to call a int"));
  EXPECT_THAT(error_of("\x80\x02K\x01}b."s), HasSubstr("refuses to set the state of a int"));
  EXPECT_THAT(error_of("\x80\x02\x82\x01."s), HasSubstr("extension registry"));
  EXPECT_THAT(error_of("Pid\n."s), HasSubstr("persistent object id"));
}

TEST(Unpickle, RefusesMalformed) {
  EXPECT_THAT(error_of(""), HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x80\x02X\xff\xff\xff\xff"
                       "abc."s),
              HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                       "abc."s),
              HasSubstr("cut short"));
  EXPECT_THAT(error_of("\x80\x06N."s), HasSubstr("protocol 6"));
  EXPECT_THAT(error_of("."s), HasSubstr("empty stack"));
  EXPECT_THAT(error_of("\x80\x02t."s), HasSubstr("did not begin"));
  EXPECT_THAT(error_of("\x80\x02h\x05."s), HasSubstr("not remembered"));
  EXPECT_THAT(error_of("\x80\x02}(K\x01u."s), HasSubstr("key without a value"));
  EXPECT_THAT(error_of("\x80\x02K\x01K\x02"
                       "a."s),
              HasSubstr("adds items to a int"));
  EXPECT_THAT(error_of("\xff"s), HasSubstr("0xff is not an operation"));
  EXPECT_THAT(error_of("\x80\x02(K\x01"
                       "aN."s),
              HasSubstr("empty stack"));
}

TEST(Unpickle, SharedListsAreNotExpanded) {
  // l0 = [1]; l(i+1) = [li, li, ..., li] (8 times), 60 levels: 8^60 leaves if unfolded
  std::string bytes =
      "\x80\x02]K\x01"
      "a"s;
  for (int i = 0; i < 60; ++i) {
    bytes += "q"s + static_cast<char>(i) + "0](";
    for (int k = 0; k < 8; ++k) bytes += "h"s + static_cast<char>(i);
    bytes += "e";
  }
  EXPECT_LT(read(bytes + ".").values.size(), 200U);
}

TEST(Unpickle, DeepNestingNeedsNoStack) {
  const std::string deep = "\x80\x02" + std::string(1'000'000, ']') + std::string(999'999, 'a') + ".";
  EXPECT_EQ(read(deep).top().items.size(), 1U);
  const std::string marks = "\x80\x02" + std::string(3'000'000, '(') + ".";
  EXPECT_THAT(error_of(marks), HasSubstr("open groups"));
  EXPECT_THAT(error_of("\x80\x02" + std::string(2'000'001, 'N') + "."),
              HasSubstr("more than 2000000 values"));
  EXPECT_THAT(error_of("\x80\x02N" + std::string(2'000'001, '2') + "."), HasSubstr("on the stack"));
}

TEST(Unpickle, CallsOverASharedArgumentAreBounded) {
  std::string set =
      "\x80\x02(" + std::string(20'000, 'N') + "l\x85q"s + '\0' + "0c__builtin__\nset\nq\x01" + "0";
  for (int i = 0; i < 20'000; ++i) set += "h\x01h"s + '\0' + "R0";
  EXPECT_THAT(error_of(set + "N."), HasSubstr("copy too much"));
}

}  // namespace
}  // namespace espalier::pickle
