#include <cstring>
#include <fmt/format.h>
#include <map>

#include "graphs/base/error.hpp"
#include "graphs/weights/checkpoint.hpp"
#include "graphs/weights/formats.hpp"
#include "graphs/weights/unpickle.hpp"

namespace espalier {
namespace {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

constexpr std::string_view kMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";  // 0x1950a86a20f9469cfc6c
constexpr std::int64_t kProtocol = 1001;
constexpr std::int64_t kSlack = std::int64_t{1} << 20;

class StreamStorages final : public StorageSource {
 public:
  explicit StreamStorages(std::string_view bytes) : bytes_(bytes) {}

  /// Finds where each storage lies: the keys in order, a count and the elements for each.
  void index(const Pickle& object, const Pickle& keys, std::size_t position) {
    std::map<std::string, std::size_t> element;
    for (const Value& v : object.values)
      if (v.kind == Kind::storage) element[v.text] = v.dtype ? size_of(*v.dtype) : 1;
    if (keys.top().kind != Kind::list) throw InputError("the list of storages is missing");
    for (pickle::Ref r : keys.top().items) {
      const Value& key = keys.at(r);
      const auto size = element.find(key.text);
      if (key.kind != Kind::text || size == element.end())
        throw InputError(fmt::format("storage {} belongs to no tensor", key.text));
      std::uint64_t count = 0;
      if (bytes_.size() - position < 8) cut_short(key.text);
      std::memcpy(&count, bytes_.data() + position, 8);
      position += 8;
      std::uint64_t length = 0;
      if (__builtin_mul_overflow(count, size->second, &length) || length > bytes_.size() - position)
        cut_short(key.text);
      if (!places_.emplace(key.text, bytes_.substr(position, length)).second)
        throw InputError(fmt::format("storage {} is listed twice", key.text));
      position += length;
    }
  }

  Tensor read(const std::string& key, std::int64_t bytes, std::size_t) override {
    const auto place = places_.find(key);
    if (place == places_.end()) throw InputError(fmt::format("storage {} is not in the file", key));
    if (place->second.size() < static_cast<std::size_t>(bytes))
      throw InputError(
          fmt::format("storage {} needs {} bytes, the file has {}", key, bytes, place->second.size()));
    Tensor storage(DType::u8, Shape{bytes});
    if (bytes > 0) std::memcpy(storage.mutable_data(), place->second.data(), static_cast<std::size_t>(bytes));
    return storage;
  }

 private:
  [[noreturn]] void cut_short(const std::string& key) const {
    throw InputError(
        fmt::format("the file is cut short: storage {} does not fit its {} bytes", key, bytes_.size()));
  }
  std::string_view bytes_;
  std::map<std::string, std::string_view> places_;
};

}  // namespace

bool looks_like_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && static_cast<unsigned char>(bytes[1]) <= 5;
}

TensorMap read_torch_legacy(std::string_view bytes) {
  std::size_t position = 0;
  const Pickle magic = pickle::unpickle(bytes, position);
  if (magic.top().kind != Kind::big_integer || magic.top().text != kMagic)
    throw InputError("a pickle, but not one of torch.save");
  const Pickle protocol = pickle::unpickle(bytes, position);
  if (protocol.top().kind != Kind::integer || protocol.top().integer != kProtocol)
    throw InputError(fmt::format("its protocol is not {}", kProtocol));
  const Pickle system = pickle::unpickle(bytes, position);
  const Value* little = system.find(system.top(), "little_endian");
  if (little == nullptr || little->kind != Kind::boolean || little->integer != 1)
    throw InputError("it was written on a big-endian machine; save it again in the zip format");
  const Pickle object = pickle::unpickle(bytes, position);
  const Pickle keys = pickle::unpickle(bytes, position);
  StreamStorages storages(bytes);
  storages.index(object, keys, position);
  return checkpoint_tensors(object, storages, 4 * static_cast<std::int64_t>(bytes.size()) + kSlack);
}

}  // namespace espalier
