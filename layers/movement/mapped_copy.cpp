#include "layers/movement/mapped_copy.hpp"

#include <cstring>

namespace espalier {
namespace {

class MappedKernel final : public Kernel {
 public:
  MappedKernel(const Shape& in, std::size_t element_bytes,
               const std::vector<std::vector<std::int64_t>>& positions)
      : block_(element_bytes) {
    int rank = in.rank();
    while (rank > 0 && is_identity(positions[static_cast<std::size_t>(rank - 1)], in[rank - 1]))
      block_ *= static_cast<std::size_t>(in[--rank]);
    for (int a = 0; a < rank; ++a) {
      const std::int64_t stride = in.elements(a + 1, rank) * static_cast<std::int64_t>(block_);
      table_.push_back(positions[static_cast<std::size_t>(a)]);
      for (std::int64_t& p : table_.back()) p *= stride;
    }
  }
  void run(const KernelArguments& arguments) override {
    char* dst = static_cast<char*>(arguments.outputs[0]);
    if (block_ != 0) copy(0, dst, static_cast<const char*>(arguments.inputs[0]));
  }

 private:
  static bool is_identity(const std::vector<std::int64_t>& positions, std::int64_t extent) {
    if (static_cast<std::int64_t>(positions.size()) != extent) return false;
    for (std::size_t i = 0; i < positions.size(); ++i)
      if (positions[i] != static_cast<std::int64_t>(i)) return false;
    return true;
  }

  void copy(std::size_t axis, char*& dst, const char* src) const {
    if (axis == table_.size()) {
      std::memcpy(dst, src, block_);
      dst += block_;
    } else if (axis + 1 == table_.size() && block_ == 4) {
      for (std::int64_t offset : table_[axis]) {
        std::memcpy(dst, src + offset, 4);
        dst += 4;
      }
    } else {
      for (std::int64_t offset : table_[axis]) copy(axis + 1, dst, src + offset);
    }
  }

  std::size_t block_;
  std::vector<std::vector<std::int64_t>> table_;  // byte offsets by axis
};

}  // namespace

std::unique_ptr<Kernel> make_mapped_kernel(const NodeView& view,
                                           const std::vector<std::vector<std::int64_t>>& source_positions) {
  return std::make_unique<MappedKernel>(view.shape(0), size_of(view.inputs[0]->dtype), source_positions);
}

}  // namespace espalier
