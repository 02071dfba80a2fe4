#pragma once

#include "graphs/passes/editor.hpp"

namespace espalier {

/// A 1x1 Conv with at most one fused activation that only a depthwise Conv reads, and whose result is larger
/// than a second-level cache holds beside the rest, becomes PointwiseDepthwise together with that Conv: the
/// wide tensor is never stored.
bool fuse_pointwise_depthwise(Editor& editor, std::int32_t i);

}  // namespace espalier
