// attune::SqueezeExcite: a map times a gate for each of its channels. Two 1x1 convolutions compute the gates from the
// channels' means, each with its epilogue.
#pragma once

#include "graph/graph.h"
#include "ops/epilogue.h"

namespace attune {

/// Positions of its inputs; the operands of the gates' epilogue follow, each one number.
enum SqueezeExciteInput : size_t {
  kExcitedMap,
  kSqueezeWeights,
  kExciteWeights,
  kSqueezeBias,  // this and all that follow may be omitted
  kExciteBias,
  kGateOperands,
};

/// Both convolutions are Conv or attune::FusedConv; the first one's epilogue has no operands. The result has the name
/// and the outputs of the product.
Node squeeze_excite(ValueId map, const Node& squeeze, const Node& excite, const Node& product);

struct SqueezeExciteParts {
  Node pool, squeeze, excite, product;
};
/// What lies between the parts.
struct SqueezeExciteValues {
  ValueId mean, squeezed, gate;
};
SqueezeExciteParts squeeze_excite_parts(const Node& fused, const SqueezeExciteValues& between);

/// What is done to the results of the first convolution and to the gates; operands are inputs of the fused node.
std::vector<EpilogueStep> squeeze_steps(const Attributes& attributes);
std::vector<EpilogueStep> gate_steps(const Attributes& attributes);

}  // namespace attune
