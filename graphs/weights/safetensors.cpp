#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "graphs/base/error.hpp"
#include "graphs/weights/formats.hpp"

namespace espalier {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr DType kAccepted[] = {DType::f32, DType::f64, DType::f16,    DType::bf16, DType::i8,
                               DType::i16, DType::i32, DType::i64,    DType::u8,   DType::u16,
                               DType::u32, DType::u64, DType::boolean};

std::string_view spelling(DType t) {
  static constexpr std::string_view names[] = {"F32", "F64", "F16", "BF16", "I8",  "I16", "I32",
                                               "I64", "U8",  "U16", "U32",  "U64", "BOOL"};
  return names[static_cast<std::size_t>(t)];
}

struct Entry {
  std::string name;
  TensorType type;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t header_length(std::string_view bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 8; ++i) n |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return n;
}

json parse_header(std::string_view text) {
  std::set<std::string> names;
  const auto unique = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth == 1 && event == json::parse_event_t::key && !names.insert(parsed.get<std::string>()).second)
      throw InputError(fmt::format("tensor {} is listed twice", parsed.get<std::string>()));
    return true;
  };
  try {
    json header = json::parse(text, unique);
    if (!header.is_object()) throw InputError("the header is not a JSON object");
    return header;
  } catch (const json::exception& e) {
    throw InputError(fmt::format("the header is not JSON: {}", e.what()));
  }
}

DType dtype_named(const std::string& tensor, const json& value) {
  std::string accepted;
  for (DType t : kAccepted) {
    if (value.is_string() && value.get_ref<const std::string&>() == spelling(t)) return t;
    accepted += fmt::format("{}{}", accepted.empty() ? "" : ", ", spelling(t));
  }
  throw InputError(fmt::format("tensor {}: dtype {} is not supported; accepted are {}", tensor,
                               value.is_string() ? value.get<std::string>() : std::string("(none)"),
                               accepted));
}

std::vector<std::uint64_t> counts(const std::string& tensor, const json& entry, const char* key) {
  std::vector<std::uint64_t> out;
  const auto it = entry.find(key);
  bool good = it != entry.end() && it->is_array();
  if (good)
    for (const json& n : *it) {
      good = good && n.is_number_unsigned();
      if (good) out.push_back(n.get<std::uint64_t>());
    }
  if (!good)
    throw InputError(
        fmt::format("tensor {}: {} must be a list of integers that are not negative", tensor, key));
  return out;
}

Entry read_entry(const std::string& name, const json& value, std::uint64_t data_size) {
  if (!value.is_object()) throw InputError(fmt::format("tensor {}: its entry is not an object", name));
  Entry entry;
  entry.name = name;
  entry.type.dtype = dtype_named(name, value.value("dtype", json()));
  std::vector<std::int64_t> dims;
  std::uint64_t size = size_of(entry.type.dtype);
  bool overflow = false;
  const auto shape = counts(name, value, "shape");
  const bool empty = std::find(shape.begin(), shape.end(), 0U) != shape.end();
  for (std::uint64_t d : shape) {
    overflow = overflow || d > (std::uint64_t{1} << 62);
    overflow = (!empty && __builtin_mul_overflow(size, d, &size)) || overflow;
    dims.push_back(static_cast<std::int64_t>(d));
  }
  if (empty) size = 0;
  const auto offsets = counts(name, value, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_size)
    throw InputError(fmt::format("tensor {}: data_offsets must be [begin, end] within the {} bytes of data",
                                 name, data_size));
  entry.begin = offsets[0];
  entry.end = offsets[1];
  entry.type.shape = Shape(std::move(dims));
  if (overflow || entry.end - entry.begin != size)
    throw InputError(fmt::format("tensor {}: {} does not fill its {} bytes", name, entry.type.to_string(),
                                 entry.end - entry.begin));
  return entry;
}

/// The data must be used wholly and by one tensor each, as the specification demands.
void check_layout(std::vector<Entry>& entries, std::uint64_t data_size) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t used = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < used)
      throw InputError(fmt::format("tensor {}: its data overlaps that of another tensor", entry.name));
    if (entry.begin > used)
      throw InputError(fmt::format("tensor {}: {} bytes before its data belong to no tensor", entry.name,
                                   entry.begin - used));
    used = entry.end;
  }
  if (used != data_size)
    throw InputError(fmt::format("{} bytes at the end belong to no tensor", data_size - used));
}

}  // namespace

bool looks_like_safetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && header_length(bytes) < (std::uint64_t{1} << 40);
}

TensorMap read_safetensors(std::string_view bytes) {
  const std::uint64_t length = header_length(bytes);
  if (length > kMaxHeader)
    throw InputError(fmt::format("a header of {} bytes; at most {} are accepted", length, kMaxHeader));
  if (length > bytes.size() - 8)
    throw InputError(
        fmt::format("the file is cut short: a header of {} bytes, {} are there", length, bytes.size() - 8));
  const json header = parse_header(bytes.substr(8, length));
  const std::string_view data = bytes.substr(8 + length);
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__") entries.push_back(read_entry(name, value, data.size()));
  check_layout(entries, data.size());
  TensorMap tensors;
  for (Entry& entry : entries) {
    Tensor tensor(entry.type.dtype, std::move(entry.type.shape));
    if (entry.end > entry.begin)
      std::memcpy(tensor.mutable_data(), data.data() + entry.begin, entry.end - entry.begin);
    tensors.emplace(std::move(entry.name), std::move(tensor));
  }
  return tensors;
}

}  // namespace espalier
