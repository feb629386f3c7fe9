// The valid points of some parameters as a graph without cycles: a node for each level and set of continuations, an
// edge for each choice. Flat arrays; each edge knows how many points lie before it, so that point and index find each
// other by one binary search a level.
#pragma once

#include "space/parameter.h"
#include "space/transitions.h"

#include <cstddef>

namespace attune {

/// What building may cost before it is refused.
struct BuildLimits {
  size_t max_bytes = size_t{512} << 20;  // of the graph and of what building it needs beside
  uint64_t max_steps = 300'000'000;      // choices tried; some ten seconds
};

class PointGraph {
 public:
  uint64_t size() const { return size_; }
  size_t bytes() const;
  /// Writes the choices of point `index` into the places of its parameters.
  void write_point(uint64_t index, Point& point) const;
  /// Nothing when the choices are not a point.
  std::optional<uint64_t> find(const Point& point) const;

 private:
  friend class GraphBuilder;

  struct Node {
    uint32_t first_edge;  // of values_ in inner levels, of leaf_values_ in the last
    uint32_t edges;
  };
  std::vector<int> order_;  // the parameter of each level
  std::vector<Node> nodes_;
  // Edges of inner levels; those of the last level lead nowhere and count one each, so they are values alone.
  std::vector<ValueIndex> values_;
  std::vector<uint32_t> children_;
  std::vector<uint64_t> points_before_;  // within the node
  std::vector<ValueIndex> leaf_values_;
  uint32_t root_ = 0;
  uint64_t size_ = 0;
};

/// Throws UserError when the limits do not suffice; `what` names the parameters in its message.
PointGraph build_point_graph(const std::vector<Transition>& transitions, const BuildLimits& limits,
                             const std::string& what);

}  // namespace attune
