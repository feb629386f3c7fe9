// Chains and small trees of elementwise operators, with at most one softmax or normalisation over the last axis among
// them → attune::FusedVector, which reads each operand once and writes no tensor between them.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

Places fuse_vectors(Graph& graph, const LeftAlone& left_alone);

}  // namespace attune::rewrite
