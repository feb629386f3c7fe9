// Where the elements of a value lie in the tensor that they were taken from: what reshapes, transposes, splits, slices
// and picks of an index come to, as sizes and strides with symbols.
#pragma once

#include "ops/infer_graph.h"

#include <optional>
#include <vector>

namespace attune::rewrite {

/// Elements that follow each other at one distance.
struct Stretch {
  Dim size, stride;
};

/// A value as a view of a tensor in row-major order.
class View {
 public:
  /// The whole tensor.
  explicit View(const Shape& shape);

  /// One step on; false, and the view is lost, for a node that does something else or that cannot be told.
  bool follow(const GraphFacts& facts, const Node& node, ValueId output);

  size_t rank() const { return axes_.size(); }
  const Dim& offset() const { return offset_; }
  /// An axis that is one stretch; nothing when it is made of several. Axes of size 1 have stride 0.
  std::optional<Stretch> axis(size_t i) const;

 private:
  bool regroup(const Shape& shape);
  bool permute(const Node& node);
  bool cut(size_t axis, const Dim& begin, const Dim& size);
  bool slice(const GraphFacts& facts, const Node& node, const Shape& result);
  bool split(const GraphFacts& facts, const Node& node, ValueId output);
  bool pick(const GraphFacts& facts, const Node& node);

  std::vector<std::vector<Stretch>> axes_;  // slowest first; none for an axis of size 1
  Dim offset_ = 0;
};

/// Whether View::follow may understand the node: it moves the elements of its input 0 at most.
bool is_view_node(const Node& node);

}  // namespace attune::rewrite
