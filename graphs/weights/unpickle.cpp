#include "graphs/weights/unpickle.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <unordered_map>

#include "graphs/base/error.hpp"
#include "graphs/weights/pickle_globals.hpp"

namespace espalier::pickle {
namespace {

constexpr std::size_t kMaxWork = 16 * kMaxValues;
constexpr std::size_t kMaxOperations = 50 * kMaxValues;

/// Reads the arguments of operations; every read is checked against the end.
class Cursor {
 public:
  Cursor(std::string_view bytes, std::size_t position) : bytes_(bytes), position_(position) {}
  std::size_t position() const { return position_; }

  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - position_)
      throw InputError(fmt::format("the pickle is cut short: {} bytes needed at byte {}, {} are there", n,
                                   position_, bytes_.size() - position_));
    const std::string_view part = bytes_.substr(position_, n);
    position_ += n;
    return part;
  }
  template <class T>
  T number() {  // little end first
    std::uint64_t value = 0;
    const std::string_view part = take(sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    return static_cast<T>(value);
  }
  double real() {  // big end first
    std::uint64_t bits = 0;
    for (char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    return std::bit_cast<double>(bits);
  }
  std::string_view line() {
    const std::size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos)
      throw InputError(fmt::format("the pickle is cut short: no end of line after byte {}", position_));
    const std::string_view text = bytes_.substr(position_, end - position_);
    position_ = end + 1;
    return text;
  }

 private:
  std::string_view bytes_;
  std::size_t position_;
};

class Machine {
 public:
  Machine(std::string_view bytes, std::size_t position) : in_(bytes, position) {}
  Pickle run();
  std::size_t position() const { return in_.position(); }

 private:
  bool step(unsigned char op);  // false: the operation is not known
  bool step_literal(unsigned char op);
  bool step_text_literal(unsigned char op);
  bool step_container(unsigned char op);
  bool step_memo(unsigned char op);
  bool step_object(unsigned char op);

  Ref add(Value value);
  void push(Ref r);
  void push_value(Value value) { push(add(std::move(value))); }
  void push_kind(Kind kind) { push_value(value_of(kind)); }
  static Value value_of(Kind kind);
  void push_integer(std::int64_t i);
  void push_text(Kind kind, std::string_view text);
  void push_long(std::string_view bytes);
  Ref pop();
  Ref top();
  std::vector<Ref> pop_mark();
  void extend(Kind kind, const std::vector<Ref>& items);
  void make(Kind kind, std::vector<Ref> items);
  void remember(std::uint64_t index);
  void recall(std::uint64_t index);
  void push_global(std::string name);
  void call(Ref callee, const std::vector<Ref>& arguments);
  const std::vector<Ref>& arguments_of(Ref tuple);
  void build_state();
  void push_storage();
  [[noreturn]] void fail(const std::string& what) const;

  Cursor in_;
  Pickle out_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
  std::size_t work_ = 0;
};

void Machine::fail(const std::string& what) const {
  throw InputError(fmt::format("{} (byte {} of the pickle)", what, in_.position()));
}

Ref Machine::add(Value value) {
  if (out_.values.size() >= kMaxValues) fail(fmt::format("more than {} values in a pickle", kMaxValues));
  out_.values.push_back(std::move(value));
  return static_cast<Ref>(out_.values.size() - 1);
}

void Machine::push(Ref r) {
  if (stack_.size() >= kMaxValues) fail(fmt::format("more than {} values on the stack", kMaxValues));
  stack_.push_back(r);
}

Value Machine::value_of(Kind kind) {
  Value v;
  v.kind = kind;
  return v;
}

void Machine::push_integer(std::int64_t i) {
  Value v = value_of(Kind::integer);
  v.integer = i;
  push_value(std::move(v));
}

void Machine::push_text(Kind kind, std::string_view text) {
  Value v = value_of(kind);
  v.text = text;
  push_value(std::move(v));
}

void Machine::push_long(std::string_view bytes) {
  if (bytes.size() > 8) return push_text(Kind::big_integer, bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  const unsigned shift = static_cast<unsigned>(64 - 8 * bytes.size());
  if (!bytes.empty()) value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  push_integer(static_cast<std::int64_t>(value));
}

Ref Machine::pop() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("the pickle takes from an empty stack");
  const Ref r = stack_.back();
  stack_.pop_back();
  return r;
}

Ref Machine::top() {
  const Ref r = pop();
  stack_.push_back(r);
  return r;
}

std::vector<Ref> Machine::pop_mark() {
  if (marks_.empty()) fail("the pickle ends a group that it did not begin");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<Ref> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void Machine::make(Kind kind, std::vector<Ref> items) {
  if (kind == Kind::dict && items.size() % 2 != 0) fail("a dictionary has a key without a value");
  Value v = value_of(kind);
  v.items = std::move(items);
  push_value(std::move(v));
}

void Machine::extend(Kind kind, const std::vector<Ref>& items) {
  Value& target = out_.values[top()];
  if (target.kind == Kind::inert) return;
  if (target.kind != kind)
    fail(fmt::format("adds items to a {}, not to a {}", describe(target), describe(value_of(kind))));
  if (kind == Kind::dict && items.size() % 2 != 0) fail("a dictionary has a key without a value");
  target.items.insert(target.items.end(), items.begin(), items.end());
}

void Machine::remember(std::uint64_t index) {
  if (memo_.size() >= kMaxValues) fail(fmt::format("more than {} values remembered", kMaxValues));
  memo_[index] = top();
}

void Machine::recall(std::uint64_t index) {
  const auto it = memo_.find(index);
  if (it == memo_.end()) fail(fmt::format("recalls value {} that was not remembered", index));
  push(it->second);
}

void Machine::push_global(std::string name) {
  const int row = find_global(name);
  if (row < 0)
    fail(
        fmt::format("refuses to build {}: only tensors, containers, numbers and strings are accepted; save a "
                    "state dictionary",
                    name));
  Value v = value_of(Kind::global);
  v.text = std::move(name);
  v.integer = row;
  v.dtype = global_at(row).dtype;
  push_value(std::move(v));
}

const std::vector<Ref>& Machine::arguments_of(Ref tuple) {
  const Value& v = out_.at(tuple);
  if (v.kind != Kind::tuple) fail(fmt::format("calls with a {} of arguments, not a tuple", describe(v)));
  return v.items;
}

void Machine::call(Ref callee, const std::vector<Ref>& arguments) {
  const Value& v = out_.at(callee);
  if (v.kind != Kind::global) fail(fmt::format("refuses to call a {}", describe(v)));
  // a shared argument may be passed again and again: what calls copy is bounded as a whole
  work_ += 1 + arguments.size();
  for (Ref r : arguments) work_ += out_.at(r).items.size();
  if (work_ > kMaxWork) fail("the pickle's calls copy too much");
  // building appends to the values and may move them
  const std::vector<Ref> copy = arguments;  // NOLINT(performance-unnecessary-copy-initialization)
  push(call_global(out_, static_cast<int>(v.integer), copy));
  if (out_.values.size() > kMaxValues) fail(fmt::format("more than {} values in a pickle", kMaxValues));
}

void Machine::build_state() {
  pop();  // the state of a placeholder, and a dictionary's attributes, are not needed
  const Value& target = out_.at(top());
  if (target.kind != Kind::inert && target.kind != Kind::dict && target.kind != Kind::tensor)
    fail(fmt::format("refuses to set the state of a {}", describe(target)));
}

void Machine::push_storage() {
  const Value& id = out_.at(pop());
  const auto item = [&](std::size_t i) -> const Value& { return out_.at(id.items[i]); };
  if (id.kind != Kind::tuple || id.items.empty() || item(0).kind != Kind::text)
    fail("a persistent id is not one that PyTorch writes");
  if (item(0).text != "storage") fail(fmt::format("refuses to build a saved {}", item(0).text));
  if (id.items.size() < 5 || id.items.size() > 6 || item(1).kind != Kind::global ||
      global_at(static_cast<int>(item(1).integer)).builder != Builder::storage ||
      item(2).kind != Kind::text || item(4).kind != Kind::integer || item(4).integer < 0)
    fail("a storage is not described as PyTorch does");
  Value storage = value_of(Kind::storage);
  storage.dtype = item(1).dtype;
  storage.text = item(2).text;
  storage.integer = item(4).integer;
  storage.numbers = {0};
  if (id.items.size() == 6 && item(5).kind != Kind::none) {  // a view: (key, first element, elements)
    const Value& view = item(5);
    if (view.kind != Kind::tuple || view.items.size() != 3 || out_.at(view.items[1]).kind != Kind::integer)
      fail("a view of a storage is not described as PyTorch does");
    storage.numbers = {out_.at(view.items[1]).integer};
    if (storage.numbers[0] < 0 || storage.numbers[0] > storage.integer)
      fail("a view begins outside its storage");
  }
  push_value(std::move(storage));
}

bool Machine::step_literal(unsigned char op) {
  switch (op) {
    case 'N':
      push_kind(Kind::none);
      return true;
    case 0x88:
    case 0x89: {
      Value v = value_of(Kind::boolean);
      v.integer = op == 0x88;
      push_value(std::move(v));
      return true;
    }
    case 'J':
      push_integer(in_.number<std::int32_t>());
      return true;
    case 'K':
      push_integer(in_.number<std::uint8_t>());
      return true;
    case 'M':
      push_integer(in_.number<std::uint16_t>());
      return true;
    case 0x8a:
      push_long(in_.take(in_.number<std::uint8_t>()));
      return true;
    case 0x8b:
      push_long(in_.take(in_.number<std::uint32_t>()));
      return true;
    case 'G': {
      Value v = value_of(Kind::real);
      v.real = in_.real();
      push_value(std::move(v));
      return true;
    }
    case 'X':
      push_text(Kind::text, in_.take(in_.number<std::uint32_t>()));
      return true;
    case 0x8c:
      push_text(Kind::text, in_.take(in_.number<std::uint8_t>()));
      return true;
    case 0x8d:
      push_text(Kind::text, in_.take(in_.number<std::uint64_t>()));
      return true;
    case 'T':  // Python 2's str: text where it names something
      push_text(Kind::text, in_.take(in_.number<std::uint32_t>()));
      return true;
    case 'U':
      push_text(Kind::text, in_.take(in_.number<std::uint8_t>()));
      return true;
    case 'B':
      push_text(Kind::bytes, in_.take(in_.number<std::uint32_t>()));
      return true;
    case 'C':
      push_text(Kind::bytes, in_.take(in_.number<std::uint8_t>()));
      return true;
    case 0x8e:
    case 0x96:
      push_text(Kind::bytes, in_.take(in_.number<std::uint64_t>()));
      return true;
    default:
      return step_text_literal(op);
  }
}

bool Machine::step_text_literal(unsigned char op) {
  switch (op) {
    case 'I':
    case 'L': {
      std::string_view text = in_.line();
      if (text == "00" || text == "01") {
        Value v = value_of(Kind::boolean);
        v.integer = text == "01";
        push_value(std::move(v));
        return true;
      }
      if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size()) fail("an integer is malformed");
      push_integer(value);
      return true;
    }
    case 'F': {
      const std::string text(in_.line());
      Value v = value_of(Kind::real);
      v.real = std::strtod(text.c_str(), nullptr);
      push_value(std::move(v));
      return true;
    }
    case 'S': {
      const std::string_view text = in_.line();
      if (text.size() < 2 || text.front() != text.back()) fail("a string is malformed");
      push_text(Kind::text, text.substr(1, text.size() - 2));
      return true;
    }
    case 'V':
      push_text(Kind::text, in_.line());
      return true;
    default:
      return false;
  }
}

bool Machine::step_container(unsigned char op) {
  switch (op) {
    case '(':
      if (marks_.size() >= kMaxValues) fail(fmt::format("more than {} open groups", kMaxValues));
      marks_.push_back(stack_.size());
      return true;
    case ')':
      push_kind(Kind::tuple);
      return true;
    case ']':
      push_kind(Kind::list);
      return true;
    case '}':
      push_kind(Kind::dict);
      return true;
    case 0x8f:
      push_kind(Kind::set);
      return true;
    case 't':
      make(Kind::tuple, pop_mark());
      return true;
    case 'l':
      make(Kind::list, pop_mark());
      return true;
    case 'd':
      make(Kind::dict, pop_mark());
      return true;
    case 0x91:
      make(Kind::set, pop_mark());
      return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<Ref> items(op - 0x84U);
      for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
      make(Kind::tuple, std::move(items));
      return true;
    }
    case 'a':
      extend(Kind::list, {pop()});
      return true;
    case 'e':
      extend(Kind::list, pop_mark());
      return true;
    case 0x90:
      extend(Kind::set, pop_mark());
      return true;
    case 's': {
      const Ref value = pop();
      const Ref key = pop();
      extend(Kind::dict, {key, value});
      return true;
    }
    case 'u':
      extend(Kind::dict, pop_mark());
      return true;
    default:
      return false;
  }
}

bool Machine::step_memo(unsigned char op) {
  switch (op) {
    case 'q':
      remember(in_.number<std::uint8_t>());
      return true;
    case 'r':
      remember(in_.number<std::uint32_t>());
      return true;
    case 0x94:
      remember(memo_.size());
      return true;
    case 'h':
      recall(in_.number<std::uint8_t>());
      return true;
    case 'j':
      recall(in_.number<std::uint32_t>());
      return true;
    case 'p':
    case 'g': {
      const std::string_view text = in_.line();
      std::uint64_t index = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
      if (error != std::errc() || end != text.data() + text.size()) fail("an index is malformed");
      op == 'p' ? remember(index) : recall(index);
      return true;
    }
    case '0':
      if (!marks_.empty() && marks_.back() == stack_.size())
        marks_.pop_back();
      else
        pop();
      return true;
    case '1':
      pop_mark();
      return true;
    case '2':
      push(top());
      return true;
    default:
      return false;
  }
}

bool Machine::step_object(unsigned char op) {
  switch (op) {
    case 'c': {
      const std::string module(in_.line());
      push_global(module + "." + std::string(in_.line()));
      return true;
    }
    case 0x93: {
      const Ref name = pop();
      const Ref module = pop();
      if (out_.at(name).kind != Kind::text || out_.at(module).kind != Kind::text)
        fail("a name is not a string");
      push_global(out_.at(module).text + "." + out_.at(name).text);
      return true;
    }
    case 'i': {
      const std::string module(in_.line());
      push_global(module + "." + std::string(in_.line()));
      const Ref callee = pop();
      call(callee, pop_mark());
      return true;
    }
    case 'o': {
      std::vector<Ref> items = pop_mark();
      if (items.empty()) fail("an object without a class");
      const Ref callee = items.front();
      items.erase(items.begin());
      call(callee, items);
      return true;
    }
    case 'R':
    case 0x81: {
      const Ref arguments = pop();
      call(pop(), arguments_of(arguments));
      return true;
    }
    case 0x92: {
      pop();  // named arguments
      const Ref arguments = pop();
      call(pop(), arguments_of(arguments));
      return true;
    }
    case 'b':
      build_state();
      return true;
    case 'Q':
      push_storage();
      return true;
    case 0x82:
    case 0x83:
    case 0x84:
      fail("refuses to build an object of Python's extension registry");
    case 0x97:
    case 0x98:
      fail("refuses buffers outside the pickle");
    case 'P':
      fail(fmt::format("refuses to build the persistent object {}", in_.line()));
    default:
      return false;
  }
}

bool Machine::step(unsigned char op) {
  return step_literal(op) || step_container(op) || step_memo(op) || step_object(op);
}

Pickle Machine::run() {
  for (std::size_t operations = 0;; ++operations) {
    if (operations > kMaxOperations) fail("the pickle is too long");
    const auto op = in_.number<std::uint8_t>();
    if (op == '.') break;
    if (op == 0x80) {
      const int protocol = in_.number<std::uint8_t>();
      if (protocol > 5) fail(fmt::format("pickle protocol {}; 0 to 5 are accepted", protocol));
    } else if (op == 0x95) {
      in_.number<std::uint64_t>();  // a frame's length: the frame is read as it comes
    } else if (!step(op)) {
      fail(fmt::format("0x{:02x} is not an operation of a pickle", op));
    }
  }
  out_.root = pop();
  return std::move(out_);
}

}  // namespace

const Value* Pickle::find(const Value& dict, const std::string& key) const {
  const Value* found = nullptr;
  if (dict.kind != Kind::dict) return found;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2)
    if (at(dict.items[i]).kind == Kind::text && at(dict.items[i]).text == key) found = &at(dict.items[i + 1]);
  return found;
}

std::string describe(const Value& value) {
  static constexpr std::string_view names[] = {"None", "bool",  "int",     "int",    "float",
                                               "str",  "bytes", "list",    "tuple",  "dict",
                                               "set",  "",      "storage", "tensor", ""};
  if (value.kind == Kind::global || value.kind == Kind::inert) return value.text;
  return std::string(names[static_cast<std::size_t>(value.kind)]);
}

Pickle unpickle(std::string_view bytes, std::size_t& position) {
  Machine machine(bytes, position);
  Pickle pickle = machine.run();
  position = machine.position();
  return pickle;
}

}  // namespace espalier::pickle
