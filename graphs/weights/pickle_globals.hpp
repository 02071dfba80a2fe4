#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graphs/weights/pickle_value.hpp"

namespace espalier::pickle {

/// What calling an allowed name gives.
enum class Builder : std::uint8_t {
  ordered_dict,
  set,
  tensor,     ///< (storage, offset, size, stride, ...)
  tensor_v3,  ///< as tensor with the dtype as argument 6
  parameter,  ///< (tensor, ...): the tensor itself
  same,       ///< (value): the value itself
  inert,      ///< anything: a placeholder
  storage,    ///< a storage type: named in persistent ids, never called
  dtype,      ///< a tensor's type: an argument, never called
};

struct Global {
  std::string_view name;
  Builder builder;
  std::optional<DType> dtype = std::nullopt;
};

/// Row of "module.name" in the table of what may be built; -1 when it is not allowed.
int find_global(std::string_view name);
const Global& global_at(int row);

/// Calls row `row` with the arguments and returns what it gives: data only, no code is run. Appends to
/// `pickle.values`. InputError when the arguments are not those that PyTorch writes.
Ref call_global(Pickle& pickle, int row, const std::vector<Ref>& arguments);

}  // namespace espalier::pickle
