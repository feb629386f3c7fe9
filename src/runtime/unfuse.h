// Fusion is decided without knowing which kernel will serve. Some fused nodes are better off taken apart: those that
// only the reference could run (chains of vector operators where nothing is compiled), and convolutions whose epilogue
// keeps a Winograd kernel away.
#pragma once

#include "runtime/planner.h"

namespace attune {

/// A copy of the graph with such nodes taken apart; nullptr when there are none. New values carry their types.
std::shared_ptr<const Graph> unfuse(const Graph& graph, const GraphFacts& facts, const PlanOptions& options,
                                    PlanCache& cache);

}  // namespace attune
