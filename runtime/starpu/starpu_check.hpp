#pragma once

/// Checks the code that a StarPU call returns; the one place that turns it into an error.
namespace espalier::starpu {

/// DeviceError naming the call and the system's words for the code when it is negative.
void check(int code, const char* call);

}  // namespace espalier::starpu
