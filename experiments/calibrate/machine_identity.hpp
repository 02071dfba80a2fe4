#pragma once

#include <map>
#include <string>

namespace espalier {

/// What measured times depend on besides the kernel's signature: processor, instruction set, workers that run
/// at once, versions of the libraries, this program's own build, bf16 allowed.
using MachineIdentity = std::map<std::string, std::string>;
MachineIdentity machine_identity(unsigned workers, bool bf16);

/// Hash of it as 16 hexadecimal digits.
std::string key_of(const MachineIdentity& identity);

}  // namespace espalier
