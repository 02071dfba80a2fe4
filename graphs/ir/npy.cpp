#include "graphs/ir/npy.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Kind {
  std::string_view code;
  DType dtype;
};
constexpr Kind kKinds[] = {
    {"f4", DType::f32}, {"f8", DType::f64}, {"f2", DType::f16},     {"V2", DType::bf16}, {"i1", DType::i8},
    {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64},     {"u1", DType::u8},   {"u2", DType::u16},
    {"u4", DType::u32}, {"u8", DType::u64}, {"b1", DType::boolean},
};

/// Reads the header, a Python dictionary of three entries: {'descr': '<f4', 'fortran_order': False, 'shape':
/// (2, 3), }.
class Header {
 public:
  explicit Header(std::string_view text) : rest_(text) {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        descr = quoted();
      else if (key == "fortran_order")
        fortran = boolean();
      else if (key == "shape")
        dims = tuple();
      else
        throw InputError(fmt::format("the header has an entry '{}'", key));
      if (!accept(',') && peek() != '}') throw InputError("the header is malformed");
    }
  }
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> dims;

 private:
  char peek() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0)
      rest_.remove_prefix(1);
    return rest_.empty() ? '\0' : rest_.front();
  }
  bool accept(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw InputError(fmt::format("the header is malformed: '{}' is missing", c));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"')
      throw InputError("structured arrays are not supported; a plain array is needed");
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) throw InputError("the header is malformed");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    peek();
    const bool yes = rest_.starts_with("True");
    if (!yes && !rest_.starts_with("False")) throw InputError("the header is malformed: fortran_order");
    rest_.remove_prefix(yes ? 4 : 5);
    return yes;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      if (values.size() == 64) throw InputError("more than 64 axes");
      values.push_back(number());
      if (!accept(',') && peek() != ')') throw InputError("the header is malformed: shape");
    }
    return values;
  }
  std::int64_t number() {
    std::int64_t n = 0;
    bool any = false;
    for (peek(); !rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0; any = true) {
      n = n * 10 + (rest_.front() - '0');
      if (n > (std::int64_t{1} << 48)) throw InputError("the shape is too large");
      rest_.remove_prefix(1);
    }
    if (!any) throw InputError("the header is malformed: shape");
    return n;
  }
  std::string_view rest_;
};

DType dtype_of_descr(const std::string& descr) {
  if (descr.size() == 3 && descr[0] != '>')
    for (const Kind& kind : kKinds)
      if (descr.substr(1) == kind.code) return kind.dtype;
  throw InputError(
      fmt::format("element type '{}' is not supported; accepted are little-endian numbers and bool", descr));
}

/// The product of the extents with zeros taken as ones must stay small enough for every later computation.
Shape checked_shape(std::vector<std::int64_t> dims) {
  std::int64_t product = 1;
  for (std::int64_t d : dims)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(d, 1), &product) ||
        product > (std::int64_t{1} << 48))
      throw InputError(fmt::format("the shape {} is too large", Shape(dims).to_string()));
  return Shape(std::move(dims));
}

/// Element i of a C-order tensor lies at the index with reversed axes in Fortran order.
void copy_fortran(std::string_view data, Tensor& tensor) {
  const Shape& shape = tensor.shape();
  const std::size_t size = size_of(tensor.dtype());
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()), 0);
  auto* out = static_cast<char*>(tensor.mutable_data());
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    std::int64_t from = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) from = from * shape[d] + index[static_cast<std::size_t>(d)];
    std::memcpy(out + static_cast<std::size_t>(i) * size, data.data() + static_cast<std::size_t>(from) * size,
                size);
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++index[static_cast<std::size_t>(d)] < shape[d]) break;
      index[static_cast<std::size_t>(d)] = 0;
    }
  }
}

Tensor parse(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10)
    throw InputError("not a NumPy .npy file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    throw InputError(fmt::format("format version {} is not supported", version));
  const std::size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) throw InputError("truncated in the header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i)
    length |= std::size_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  bytes.remove_prefix(8 + width);
  if (length > bytes.size()) throw InputError("truncated in the header");
  Header header(bytes.substr(0, length));
  bytes.remove_prefix(length);
  const TensorType type{dtype_of_descr(header.descr), checked_shape(std::move(header.dims))};
  if (static_cast<std::int64_t>(bytes.size()) != type.bytes())
    throw InputError(
        fmt::format("{} bytes of data, {} needs {}", bytes.size(), type.to_string(), type.bytes()));
  Tensor tensor(type.dtype, type.shape);
  if (header.fortran)
    copy_fortran(bytes, tensor);
  else if (!bytes.empty())
    std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  if (type.dtype == DType::boolean)
    for (char *p = static_cast<char*>(tensor.mutable_data()), *end = p + tensor.elements(); p != end; ++p)
      *p = *p != 0;
  return tensor;
}

}  // namespace

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  try {
    return parse(bytes);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

Tensor read_npy(const std::filesystem::path& path) {
  return parse_npy(read_file(path), path.string());
}

std::string to_npy(const Tensor& tensor) {
  std::string_view code;
  for (const Kind& kind : kKinds)
    if (kind.dtype == tensor.dtype()) code = kind.code;
  std::string shape;
  for (std::int64_t d : tensor.shape()) shape += fmt::format("{}, ", d);
  const char order = size_of(tensor.dtype()) == 1 ? '|' : '<';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, code, shape);
  const bool wide = header.size() + 75 > std::numeric_limits<std::uint16_t>::max();
  const std::size_t prefix = wide ? 12 : 10;
  header.append(63 - (prefix + header.size()) % 64, ' ');  // the data starts at a multiple of 64
  header += '\n';
  std::string bytes(kMagic);
  bytes += wide ? '\2' : '\1';
  bytes += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i) bytes += static_cast<char>(header.size() >> (8 * i));
  bytes += header;
  bytes.append(static_cast<const char*>(tensor.data()), static_cast<std::size_t>(tensor.bytes()));
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  write_file(path, to_npy(tensor));
}

}  // namespace espalier
