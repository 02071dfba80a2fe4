#pragma once

#include <stdexcept>
#include <string>

/// Three kinds of error, told apart by who can mend them. The command maps InputError to exit code 2 and the
/// others to 1. A text names the file, node, shape or line concerned and what would be accepted.
namespace espalier {

/// The user's input or usage is wrong: a file, a model, an option.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A device, a driver or the operating system failed (StarPU, CUDA, file writing, memory).
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A fault of Espalier's own. Never reachable by input.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace espalier
