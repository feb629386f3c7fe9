// Where Winograd's convolution pays: it trades multiplications for transforms of the data.
#pragma once

#include "graph/graph.h"
#include "kernel/provider.h"

namespace attune {

/// A dense 3x3 convolution of stride 1 with enough channels on both sides, whatever its epilogue.
bool suits_winograd(const Node& node, const Dims& weights);

/// Measured 1.5 to 3.3 times faster than the best direct kernel on maps down to 7x7: the library's from 64 channels on,
/// generated ones from 32.
bool winograd_pays(const Workload& workload, const Provider& provider);

/// Whether this configuration, of the library or generated, is Winograd's.
bool is_winograd(const Config& config);

}  // namespace attune
