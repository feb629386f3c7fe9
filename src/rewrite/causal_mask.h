// Whether a mask of bools hides from each query exactly the keys after it.
#pragma once

#include "ops/infer_graph.h"

namespace attune::rewrite {

enum class Triangle : uint8_t { true_below, true_above };  // which side of the diagonal is true; it itself is visible

/// `mask` broadcasts to scores of this shape; looks through slices that take the beginning of both axes.
bool is_causal_mask(const Graph& graph, const GraphFacts& facts, ValueId mask, const Shape& scores, Triangle triangle);

}  // namespace attune::rewrite
