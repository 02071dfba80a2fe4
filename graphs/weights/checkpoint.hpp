#pragma once

#include <map>
#include <string>

#include "graphs/weights/formats.hpp"
#include "graphs/weights/pickle_value.hpp"

namespace espalier {

/// Where a checkpoint's storages lie.
class StorageSource {
 public:
  virtual ~StorageSource() = default;
  /// The bytes of a storage as a flat tensor of u8, `bytes` long, elements of `element` bytes in the host's
  /// order. InputError when it is missing or shorter.
  virtual Tensor read(const std::string& key, std::int64_t bytes, std::size_t element) = 0;
};

/// The tensors of a checkpoint's state dictionary: the object itself, or what it holds under "state_dict",
/// "model", "model_state_dict" or the like. Tensors that share a storage share its memory where they are
/// contiguous in it, others are copied; copies are at most `budget` bytes in all, so that views cannot unfold
/// a small file into a large one.
TensorMap checkpoint_tensors(const pickle::Pickle& pickle, StorageSource& storages, std::int64_t budget);

}  // namespace espalier
