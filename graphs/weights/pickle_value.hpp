#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphs/ir/dtype.hpp"

/// What a pickle may hold here: plain data in one array, referred to by index. References may be shared or
/// form cycles; nothing is ever expanded, so a small file cannot unfold into a large structure.
namespace espalier::pickle {

using Ref = std::uint32_t;

enum class Kind : std::uint8_t {
  none,
  boolean,
  integer,
  big_integer,  ///< does not fit 64 bits: `text` holds its bytes, little end first
  real,
  text,
  bytes,
  list,
  tuple,
  dict,  ///< `items` alternates keys and values, a later key wins
  set,
  global,   ///< a name that may be called; `text` is "module.name", `integer` its row in the table
  storage,  ///< `text` its key, `integer` its elements, `numbers` {first element of the view}
  tensor,   ///< `items` {storage}, `numbers` {offset, sizes..., strides...} in elements
  inert,    ///< an object known to be harmless that is not needed; `text` names its class
};

struct Value {
  Kind kind = Kind::none;
  std::optional<DType> dtype;  ///< of a tensor, of a storage (none: untyped bytes), of a dtype's global
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  std::vector<Ref> items;
  std::vector<std::int64_t> numbers;
};

struct Pickle {
  std::vector<Value> values;
  Ref root = 0;
  const Value& at(Ref r) const { return values[r]; }
  const Value& top() const { return values[root]; }
  /// The value under a text key of a dictionary, nullptr when it is not there.
  const Value* find(const Value& dict, const std::string& key) const;
};

/// "None", "bool", "int", "str", "list", ... as Python says it.
std::string describe(const Value& value);

}  // namespace espalier::pickle
