// Which memory layouts a node should be tried in, by rule. (Measured layout choice builds on the same candidates.)
#pragma once

#include "kernel/workload.h"
#include "runtime/layout_choice.h"

#include <vector>

namespace attune {

/// Layouts that convolutions of a graph are tried in first.
struct RegionLayouts {
  Layout floats = Layout::plain;
  Layout bytes = Layout::nhwc;  // of 8-bit ones: their sums run over adjacent bytes
};

/// Left to rule: blocked when the channels fill the blocks of this machine's vectors, channels-last otherwise, since
/// blocks would be padded and channel-wise splits would cut them.
RegionLayouts region_layouts(const Graph& graph, const GraphFacts& facts, LayoutChoice choice);

/// Layouts to try for a node, the best first; plain is always the last. `current` is the layout in which its first
/// activation lies now.
std::vector<Layout> layout_candidates(const Workload& workload, const RegionLayouts& region, Layout current);

/// The workload with its full-size activations in `layout`; small operands that broadcast stay plain.
Workload with_layout(Workload workload, Layout layout);

/// True when two layouts of a tensor are the same bytes (a 1x1 map with whole channel blocks).
bool same_bytes(const TensorSpec& spec, Layout a, Layout b);

}  // namespace attune
