// Which nodes can compute in bfloat16, and how they hang together: a product and what follows it.
#pragma once

#include "ops/infer_graph.h"
#include "rewrite/pass.h"

#include <string>
#include <vector>

namespace attune::rewrite {

/// A product and the simple operators after it, up to the next product. In another precision than their product these
/// could not be fused with it and would need a cast of their own, so a region is what precision is chosen for. What
/// follows several products belongs to the last of them.
struct Bf16Region {
  std::string product;             // the node's name
  std::vector<std::string> nodes;  // names: the product, then its followers
};

/// Of a graph as it is when the pass use_bf16 comes to it, bodies of control flow included; in order.
std::vector<Bf16Region> bf16_regions(const Graph& graph);

/// By node: the position of the product whose region it belongs to, or kNoNode where it stays in f32.
std::vector<NodeId> select_bf16(const Graph& graph, const GraphFacts& facts, const LeftAlone& left_alone);

}  // namespace attune::rewrite
