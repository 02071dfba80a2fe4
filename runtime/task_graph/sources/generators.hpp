#pragma once

#include "runtime/task_graph/sources/generator_options.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier::source {

constexpr std::int64_t kMostGeneratedTasks = 10'000'000;

/// Tiled factorisations of an N x N tile matrix with tiles of nb x nb (generators_dense.cpp): tasks with
/// flops and bytes, no times of their own.
LoadedTaskGraph cholesky(GeneratorOptions& options);
LoadedTaskGraph lu(GeneratorOptions& options);
LoadedTaskGraph qr(GeneratorOptions& options);

/// Synthetic graphs with given times, whole numbers drawn evenly from min .. max, and edge weights that are
/// ccr times as long on average (generators_synthetic.cpp).
LoadedTaskGraph layered(GeneratorOptions& options);
LoadedTaskGraph fork_join(GeneratorOptions& options);
LoadedTaskGraph stencil(GeneratorOptions& options);
LoadedTaskGraph random_dag(GeneratorOptions& options);

}  // namespace espalier::source
