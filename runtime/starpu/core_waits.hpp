#pragma once

namespace espalier::starpu {

/// Seconds, since their start, that threads of this process were ready to run and waited for a core (Linux,
/// /proc/self/task/*/schedstat). The difference over a run of StarPU, which has one worker a core, tells how
/// much other programs took. 0 where the kernel does not say.
double seconds_waited_for_cores();

}  // namespace espalier::starpu
