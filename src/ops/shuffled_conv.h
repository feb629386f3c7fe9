// attune::ShuffledConv: a convolution whose channels and those of another map of the same shape take turns in the
// result, which is what a channel shuffle of two groups makes of them. The result may be cut into two maps.
#pragma once

#include "graph/graph.h"

namespace attune {

/// Positions of its inputs: those of the convolution, with the other map among them.
enum ShuffledInput : size_t {
  kShuffledMap,
  kShuffledWeights,
  kShuffledBeside,
  kShuffledBias,      // this and all that follow may be omitted
  kShuffledOperands,  // of the epilogue
};

/// Which channel of each pair is the convolution's.
enum class Turn : uint8_t { first, second };

/// `conv` is Conv or attune::FusedConv and alone reads what it gives; `shuffle` is an attune::ChannelShuffle of two
/// groups that has its result and another map as inputs. The fused node has the name of the convolution.
Node shuffled_conv(const Node& conv, const Node& shuffle);

/// The turn of the convolution in a fused node; UserError for an attribute that says neither.
Turn turn_of_convolution(const Node& fused);

struct ShuffledParts {
  Node conv, shuffle;
};
/// The two again, with `between` as what the convolution gives.
ShuffledParts shuffled_parts(const Node& fused, ValueId between);

}  // namespace attune
