#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <zip.h>

#include "graphs/base/error.hpp"
#include "graphs/weights/checkpoint.hpp"
#include "graphs/weights/formats.hpp"
#include "graphs/weights/unpickle.hpp"

namespace espalier {
namespace {

constexpr std::uint64_t kMaxPickle = std::uint64_t{1} << 28;
constexpr std::int64_t kSlack = std::int64_t{1} << 20;

struct CloseZip {
  void operator()(zip_t* z) const { zip_discard(z); }
};
struct CloseMember {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};

class Archive {
 public:
  explicit Archive(std::string_view bytes) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source != nullptr) zip_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    if (zip_ == nullptr) {
      if (source != nullptr) zip_source_free(source);
      const std::string reason = zip_error_strerror(&error);
      zip_error_fini(&error);
      throw InputError(fmt::format("the zip archive cannot be read: {} (is the file cut short?)", reason));
    }
    zip_error_fini(&error);
    find_prefix();
  }

  bool has(const std::string& member) const {
    return zip_name_locate(zip_.get(), (prefix_ + member).c_str(), 0) >= 0;
  }
  std::uint64_t size(const std::string& member) const {
    zip_stat_t status;
    if (zip_stat(zip_.get(), (prefix_ + member).c_str(), 0, &status) != 0 ||
        (status.valid & ZIP_STAT_SIZE) == 0)
      throw InputError(fmt::format("member {} is not in the archive", prefix_ + member));
    return status.size;
  }
  /// Reads the first `n` bytes of a member; all of it is checked against its checksum when n is its size.
  void read(const std::string& member, char* to, std::uint64_t n) const {
    const std::unique_ptr<zip_file_t, CloseMember> file(zip_fopen(zip_.get(), (prefix_ + member).c_str(), 0));
    if (file == nullptr)
      throw InputError(
          fmt::format("member {} cannot be read: {}", prefix_ + member, zip_strerror(zip_.get())));
    while (n > 0) {
      const zip_int64_t got = zip_fread(file.get(), to, std::min<std::uint64_t>(n, std::uint64_t{1} << 26));
      if (got <= 0) throw InputError(fmt::format("member {} is damaged or cut short", prefix_ + member));
      to += got;
      n -= static_cast<std::uint64_t>(got);
    }
    char more = 0;  // the checksum is compared at the end
    if (zip_fread(file.get(), &more, 1) < 0)
      throw InputError(fmt::format("member {} is damaged", prefix_ + member));
  }
  std::string text(const std::string& member) const {
    const std::uint64_t n = size(member);
    if (n > kMaxPickle)
      throw InputError(
          fmt::format("member {}: {} bytes, at most {} are accepted", prefix_ + member, n, kMaxPickle));
    std::string content;
    try {
      content.resize(n);
    } catch (const std::bad_alloc&) {
      throw InputError(fmt::format("member {}: {} bytes cannot be allocated", prefix_ + member, n));
    }
    read(member, content.data(), n);
    return content;
  }

 private:
  void find_prefix() {
    const std::string_view wanted = "data.pkl";
    const zip_int64_t n = zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < n; ++i) {
      const char* raw = zip_get_name(zip_.get(), static_cast<zip_uint64_t>(i), 0);
      const std::string_view name = raw == nullptr ? "" : raw;
      if (!name.ends_with(wanted)) continue;
      const std::string_view folder = name.substr(0, name.size() - wanted.size());
      if (!folder.empty() && (folder.back() != '/' || folder.find('/') != folder.size() - 1)) continue;
      prefix_ = folder;
      return;
    }
    throw InputError("a zip archive without data.pkl; PyTorch checkpoints have one");
  }

  std::unique_ptr<zip_t, CloseZip> zip_;
  std::string prefix_;
};

class ZipStorages final : public StorageSource {
 public:
  ZipStorages(const Archive& archive, bool swap) : archive_(archive), swap_(swap) {}

  Tensor read(const std::string& key, std::int64_t bytes, std::size_t element) override {
    const std::string member = "data/" + key;
    const std::uint64_t there = archive_.size(member);
    if (there < static_cast<std::uint64_t>(bytes))
      throw InputError(fmt::format("storage {} needs {} bytes, its member has {}", key, bytes, there));
    Tensor storage(DType::u8, Shape{bytes});
    char* data = static_cast<char*>(storage.mutable_data());
    archive_.read(member, data, static_cast<std::uint64_t>(bytes));
    if (swap_ && element > 1)
      for (std::int64_t i = 0; i + static_cast<std::int64_t>(element) <= bytes;
           i += static_cast<std::int64_t>(element))
        std::reverse(data + i, data + i + element);
    return storage;
  }

 private:
  const Archive& archive_;
  bool swap_;
};

}  // namespace

bool looks_like_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

TensorMap read_torch_zip(std::string_view bytes) {
  const Archive archive(bytes);
  bool swap = false;
  if (archive.has("byteorder")) {
    const std::string order = archive.text("byteorder");
    if (order != "little" && order != "big")
      throw InputError(fmt::format("byteorder {}; accepted are little and big", order.substr(0, 20)));
    swap = order == "big";
  }
  if (archive.has("constants.pkl"))
    throw InputError("a TorchScript program; save the state dictionary of the model instead");
  const std::string stream = archive.text("data.pkl");
  std::size_t position = 0;
  const pickle::Pickle pickle = pickle::unpickle(stream, position);
  ZipStorages storages(archive, swap);
  return checkpoint_tensors(pickle, storages, 4 * static_cast<std::int64_t>(bytes.size()) + kSlack);
}

}  // namespace espalier
