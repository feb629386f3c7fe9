#include "space/point_graph.h"

#include <algorithm>

namespace attune {

size_t PointGraph::bytes() const {
  return nodes_.size() * sizeof(Node) + values_.size() * sizeof(ValueIndex) + children_.size() * sizeof(uint32_t) +
         points_before_.size() * sizeof(uint64_t) + leaf_values_.size() * sizeof(ValueIndex);
}

void PointGraph::write_point(uint64_t index, Point& point) const {
  uint32_t at = root_;
  for (size_t level = 0; level < order_.size(); ++level) {
    const Node& node = nodes_[at];
    ValueIndex& choice = point[static_cast<size_t>(order_[level])];
    if (level + 1 == order_.size()) {
      choice = leaf_values_[node.first_edge + index];
      return;
    }
    const auto first = points_before_.begin() + node.first_edge;
    const auto edge = std::upper_bound(first, first + node.edges, index) - points_before_.begin() - 1;
    const auto place = static_cast<size_t>(edge);
    choice = values_[place];
    index -= points_before_[place];
    at = children_[place];
  }
}

std::optional<uint64_t> PointGraph::find(const Point& point) const {
  if (size_ == 0) return std::nullopt;
  uint64_t index = 0;
  uint32_t at = root_;
  for (size_t level = 0; level < order_.size(); ++level) {
    const Node& node = nodes_[at];
    const ValueIndex wanted = point[static_cast<size_t>(order_[level])];
    const bool is_last = level + 1 == order_.size();
    const auto& values = is_last ? leaf_values_ : values_;
    const auto first = values.begin() + node.first_edge, last = first + node.edges;
    const auto edge = std::lower_bound(first, last, wanted);
    if (edge == last || *edge != wanted) return std::nullopt;
    if (is_last) return index + static_cast<uint64_t>(edge - first);
    const auto place = static_cast<size_t>(edge - values.begin());
    index += points_before_[place];
    at = children_[place];
  }
  return index;
}

}  // namespace attune
