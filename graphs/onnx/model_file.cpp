#include "graphs/onnx/model_file.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <limits>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr int kNesting = 100;
constexpr std::size_t kFloor = std::size_t{64} << 20;
constexpr std::size_t kGrowth = 32;

/// What is left of the memory that the parse running on this thread may take. The arena's hooks are plain
/// functions, so the count cannot be an argument.
thread_local std::size_t memory_left = 0;

void* allocate_block(std::size_t size) {
  if (size > memory_left) throw std::bad_alloc();
  void* block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  memory_left -= size;
  return block;
}

void free_block(void* block, std::size_t) {
  std::free(block);
}

template <class Message>
void parse(std::string_view bytes, const std::string& what, const std::function<void(Message&)>& use) {
  if (bytes.empty()) throw InputError(fmt::format("{}: the file is empty", what));
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw InputError(
        fmt::format("{}: {} bytes; protobuf files above 2 GB are not accepted, keep large tensors "
                    "as external data",
                    what, bytes.size()));
  const google::protobuf::LogSilencer silence;
  google::protobuf::ArenaOptions options;
  options.block_alloc = allocate_block;
  options.block_dealloc = free_block;
  memory_left = kFloor + kGrowth * bytes.size();
  google::protobuf::Arena arena(options);
  Message* message = nullptr;
  try {
    message = google::protobuf::Arena::CreateMessage<Message>(&arena);
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                  static_cast<int>(bytes.size()));
    stream.SetTotalBytesLimit(static_cast<int>(bytes.size()));
    stream.SetRecursionLimit(kNesting);
    if (!message->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
      throw InputError(fmt::format("{}: truncated or not a protobuf file", what));
  } catch (const std::bad_alloc&) {
    throw InputError(fmt::format("{}: {} bytes unfold to more memory than is accepted", what, bytes.size()));
  }
  use(*message);
}

}  // namespace

void parse_model(std::string_view bytes, const std::string& what,
                 const std::function<void(onnx::ModelProto&)>& use) {
  parse<onnx::ModelProto>(bytes, what, use);
}

void parse_tensor(std::string_view bytes, const std::string& what,
                  const std::function<void(onnx::TensorProto&)>& use) {
  parse<onnx::TensorProto>(bytes, what, use);
}

}  // namespace espalier
