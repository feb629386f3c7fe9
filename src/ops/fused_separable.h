// attune::FusedSeparable: a depthwise convolution and the 1x1 convolution that reads it, each with its epilogue.
#pragma once

#include "graph/graph.h"

namespace attune {

/// Positions of its inputs; those of the second epilogue follow.
enum SeparableInput : size_t {
  kSeparableMap,
  kDepthwiseWeights,
  kPointwiseWeights,
  kDepthwiseBias,  // this and all that follow may be omitted
  kPointwiseBias,
  kSeparableOperands,
};

/// Both convolutions are Conv or attune::FusedConv; the first one's epilogue has no operands. The result has the name
/// and the outputs of the second.
Node fused_separable(const Node& depthwise, const Node& pointwise);

struct SeparableParts {
  Node depthwise, pointwise;
};
/// The two again, with `between` as what the second reads of the first.
SeparableParts separable_parts(const Node& fused, ValueId between);

}  // namespace attune
