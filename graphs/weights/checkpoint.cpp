#include "graphs/weights/checkpoint.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using pickle::Kind;
using pickle::Pickle;
using pickle::Value;

constexpr std::array<const char*, 6> kHolders{"state_dict", "model",   "model_state_dict",
                                              "net",        "weights", "model_state"};
constexpr std::uintptr_t kAlignment = 64;  // as Tensor promises

bool holds_tensors(const Pickle& pickle, const Value& dict) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (pickle.at(dict.items[i]).kind == Kind::text && pickle.at(dict.items[i + 1]).kind == Kind::tensor)
      return true;
  return false;
}

std::string keys_of(const Pickle& pickle, const Value& dict) {
  std::string keys;
  for (std::size_t i = 0; i + 1 < dict.items.size() && i < 40; i += 2)
    if (pickle.at(dict.items[i]).kind == Kind::text)
      keys += fmt::format("{}{}", keys.empty() ? "" : ", ", pickle.at(dict.items[i]).text);
  return keys.empty() ? "nothing with a name" : keys;
}

const Value& state_dictionary(const Pickle& pickle) {
  const Value& top = pickle.top();
  if (top.kind != Kind::dict)
    throw InputError(fmt::format("holds a {}; a state dictionary is needed", describe(top)));
  std::string accepted;  // holders come first: a training state may have a tensor (a loss) beside the model
  for (const char* holder : kHolders) {
    accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", holder);
    const Value* inner = pickle.find(top, holder);
    if (inner != nullptr && inner->kind == Kind::dict && holds_tensors(pickle, *inner)) return *inner;
  }
  if (holds_tensors(pickle, top)) return top;
  throw InputError(
      fmt::format("holds no parameters: it has {}; accepted are a state dictionary, or one under {}",
                  keys_of(pickle, top), accepted));
}

/// Sizes and strides of a tensor, checked against its storage.
struct Layout {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0, elements = 1;
  bool contiguous = true;
};

Layout layout_of(const Value& tensor, std::int64_t available) {
  Layout layout;
  const std::size_t rank = tensor.numbers.size() / 2;
  const auto sizes = tensor.numbers.begin() + 1;
  layout.offset = tensor.numbers[0];
  layout.sizes.assign(sizes, sizes + static_cast<std::ptrdiff_t>(rank));
  layout.strides.assign(sizes + static_cast<std::ptrdiff_t>(rank), tensor.numbers.end());
  bool empty = false, good = layout.offset >= 0;
  for (std::size_t i = 0; i < rank; ++i) {
    good = good && layout.sizes[i] >= 0 && layout.strides[i] >= 0;
    empty = empty || layout.sizes[i] == 0;
  }
  std::int64_t last = layout.offset, expected = 1;
  for (std::size_t i = rank; good && !empty && i-- > 0;) {
    std::int64_t step = 0;
    good = !__builtin_mul_overflow(layout.sizes[i] - 1, layout.strides[i], &step) &&
           !__builtin_add_overflow(last, step, &last) &&
           !__builtin_mul_overflow(layout.elements, layout.sizes[i], &layout.elements);
    if (layout.sizes[i] != 1 && layout.strides[i] != expected) layout.contiguous = false;
    expected = layout.elements;
  }
  if (empty) layout.elements = 0;
  if (!good || (!empty && last >= available) || layout.elements > available)
    throw InputError(
        fmt::format("sizes, strides or offset reach outside its storage of {} elements", available));
  return layout;
}

void gather(const Layout& layout, const char* from, char* to, std::size_t element) {
  std::vector<std::int64_t> index(layout.sizes.size(), 0);
  std::int64_t at = layout.offset;
  for (std::int64_t n = 0; n < layout.elements; ++n) {
    std::memcpy(to, from + at * static_cast<std::int64_t>(element), element);
    to += element;
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += layout.strides[axis];
      if (++index[axis] < layout.sizes[axis]) break;
      at -= layout.sizes[axis] * layout.strides[axis];
      index[axis] = 0;
    }
  }
}

class Materialiser {
 public:
  Materialiser(const Pickle& pickle, StorageSource& source, std::int64_t budget)
      : pickle_(pickle), source_(source), left_(budget) {}

  Tensor make(const Value& tensor) {
    const Value& storage = pickle_.at(tensor.items[0]);
    const std::size_t element = size_of(*tensor.dtype);
    const std::size_t unit = storage.dtype ? size_of(*storage.dtype) : 1;
    std::int64_t bytes = 0, skip = 0;
    if (__builtin_mul_overflow(storage.integer, static_cast<std::int64_t>(unit), &bytes) ||
        __builtin_mul_overflow(storage.numbers[0], static_cast<std::int64_t>(unit), &skip))
      throw InputError(fmt::format("a storage of {} elements", storage.integer));
    const Tensor& whole = storage_bytes(storage.text, bytes, element);
    const char* data = static_cast<const char*>(whole.data()) + skip;
    const Layout layout = layout_of(tensor, (bytes - skip) / static_cast<std::int64_t>(element));
    const char* first = data + layout.offset * static_cast<std::int64_t>(element);
    if (layout.contiguous && layout.elements > 0 && reinterpret_cast<std::uintptr_t>(first) % kAlignment == 0)
      return Tensor(*tensor.dtype, Shape(layout.sizes), first, std::make_shared<const Tensor>(whole));
    spend(layout.elements * static_cast<std::int64_t>(element));
    Tensor copy(*tensor.dtype, Shape(layout.sizes));
    gather(layout, data, static_cast<char*>(copy.mutable_data()), element);
    return copy;
  }

 private:
  void spend(std::int64_t bytes) {
    if (bytes > left_)
      throw InputError("its tensors are views that unfold into far more than the file's size; save copies");
    left_ -= bytes;
  }
  const Tensor& storage_bytes(const std::string& key, std::int64_t bytes, std::size_t element) {
    const auto found = read_.find(key);
    if (found != read_.end()) {
      if (found->second.bytes() != bytes)
        throw InputError(fmt::format("storage {} is described with two sizes", key));
      return found->second;
    }
    spend(bytes);
    return read_.emplace(key, source_.read(key, bytes, element)).first->second;
  }

  const Pickle& pickle_;
  StorageSource& source_;
  std::int64_t left_;
  std::map<std::string, Tensor> read_;
};

}  // namespace

TensorMap checkpoint_tensors(const Pickle& pickle, StorageSource& storages, std::int64_t budget) {
  const Value& state = state_dictionary(pickle);
  Materialiser materialiser(pickle, storages, budget);
  std::map<std::string, const Value*> last;
  for (std::size_t i = 0; i + 1 < state.items.size(); i += 2)
    if (pickle.at(state.items[i]).kind == Kind::text)
      last[pickle.at(state.items[i]).text] = &pickle.at(state.items[i + 1]);
  TensorMap tensors;
  for (const auto& [name, value] : last) {
    if (value->kind != Kind::tensor) continue;
    try {
      tensors.emplace(name, materialiser.make(*value));
    } catch (const InputError& e) {
      throw InputError(fmt::format("tensor {}: {}", name, e.what()));
    }
  }
  return tensors;
}

}  // namespace espalier
