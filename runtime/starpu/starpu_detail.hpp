#pragma once

/// The one place that includes starpu.h, whose headers do not pass our warnings. Only for .cpp files of this
/// folder and for headers that nothing outside of it includes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <starpu.h>
#include <starpu_scheduler.h>
#pragma GCC diagnostic pop
