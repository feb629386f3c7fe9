// Where a pass made one node of several.
#pragma once

#include "graph/graph.h"

#include <span>
#include <string>
#include <vector>

namespace attune::rewrite {

/// A node as it was before.
struct PlacePart {
  std::string name, op;
  bool operator==(const PlacePart&) const = default;
};

struct Place {
  PlacePart anchor;              // the fused node has its name
  std::vector<PlacePart> parts;  // the others, in the order of the graph; with all of them left alone nothing is fused
  /// Each part takes what the one before gives: left alone, it is cut off with all that follow.
  bool is_chain = false;
  /// False where a pass that fuses on request could fuse, and was not asked to.
  bool is_fused = true;
};
using Places = std::vector<Place>;

PlacePart part_of(const Node& node);

/// The nodes that a value is made by, back to these sources: what lies between is all that a fused node replaces.
std::vector<PlacePart> nodes_between(const Graph& graph, std::span<const ValueId> sources, ValueId result);

}  // namespace attune::rewrite
