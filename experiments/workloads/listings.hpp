#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace espalier {

/// A table: one row a thing, its name first.
struct Listing {
  using Cell = std::variant<std::string, std::int64_t, std::vector<std::string>>;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// What `espalier list` can list; another kind is one line in listings.cpp.
struct ListedKind {
  std::string_view name;  ///< "networks"
  Listing (*list)();
};
std::span<const ListedKind> all_listed_kinds();
/// InputError listing the kinds.
Listing list_things(std::string_view kind);

}  // namespace espalier
