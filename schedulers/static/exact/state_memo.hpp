#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace espalier {

/// States seen in a search. A state is a set of scheduled tasks, where those tasks lie that can still matter,
/// and the times at which workers and tasks end; of two with the same set and places the one whose times are
/// all at most the other's makes the other superfluous.
class StateMemo {
 public:
  struct Key {
    std::array<std::uint64_t, 2> scheduled;
    std::uint64_t places;  ///< hash of the places
    bool operator==(const Key&) const = default;
  };
  /// `bytes`: no state is added above that size; known ones still count.
  explicit StateMemo(std::size_t bytes) : capacity_(bytes / sizeof(std::int64_t)) {}

  /// True when a known state has all `times` at most these; otherwise the state is remembered, and those that
  /// it makes superfluous are forgotten.
  bool superfluous(const Key& key, const std::vector<std::int64_t>& times);

 private:
  struct Hash {
    std::size_t operator()(const Key& k) const {
      std::uint64_t h = k.places;
      for (const std::uint64_t s : k.scheduled) h = (h ^ s ^ (h >> 29)) * 0xbf58476d1ce4e5b9ULL;
      return h ^ (h >> 32);
    }
  };
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};
  std::unordered_map<Key, std::uint32_t, Hash> first_;  ///< start of a chain in pool_
  std::vector<std::int64_t> pool_;                      ///< next, then the times
  std::size_t capacity_;
};

}  // namespace espalier
