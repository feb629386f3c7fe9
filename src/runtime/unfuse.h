// Fusion is decided without knowing which provider will serve; where only the reference could run a fused node, its
// parts are better off alone.
#pragma once

#include "runtime/planner.h"

namespace attune {

/// A copy of the graph with such nodes taken apart; nullptr when there are none. New values carry their types.
std::shared_ptr<const Graph> unfuse_where_only_the_reference_serves(const Graph& graph, const GraphFacts& facts,
                                                                    const PlanOptions& options, PlanCache& cache);

}  // namespace attune
