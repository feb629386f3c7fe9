// What inference batch normalisation does to each channel.
#pragma once

#include "graph/graph.h"

#include <vector>

namespace attune::rewrite {

/// BatchNormalization by constant statistics, with one output.
bool is_inference_norm(const Graph& graph, const Node& node);

/// y = x * scale + shift for each channel, in double.
struct ChannelMap {
  std::vector<double> scale, shift;
};
ChannelMap channel_map(const Graph& graph, const Node& norm);

}  // namespace attune::rewrite
