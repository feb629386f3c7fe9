#include "rewrite/causal_mask.h"

#include "rewrite/trace_view.h"

namespace attune::rewrite {
namespace {

/// All matrices in the last two axes are triangles whose diagonal ends in the last corner.
bool is_triangle(const Tensor& mask, Triangle triangle) {
  if (mask.dtype() != DType::boolean || mask.rank() < 2 || mask.count() == 0) return false;
  const int64_t rows = mask.dim(mask.rank() - 2), columns = mask.dim(mask.rank() - 1);
  const bool* at = mask.data<bool>();
  for (int64_t matrix = 0; matrix < mask.count() / (rows * columns); ++matrix)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        if (*at++ != ((column - row <= columns - rows) == (triangle == Triangle::true_below))) return false;
  return true;
}

}  // namespace

bool is_causal_mask(const Graph& graph, const GraphFacts& facts, ValueId mask, const Shape& scores, Triangle triangle) {
  const auto& shape = facts.types[static_cast<size_t>(mask)].shape;
  if (!shape || shape->size() < 2) return false;
  const Dim &rows = (*shape)[shape->size() - 2], &columns = (*shape)[shape->size() - 1];
  if (!(rows == scores[2]) || !(columns == scores[3])) return false;
  const Tensor& contents = facts.constants[static_cast<size_t>(mask)];
  if (!contents.empty()) return is_triangle(contents, triangle);
  // The beginning of a square triangle is one again, as long as it is square.
  if (!(rows == columns)) return false;
  ValueId source = mask;
  std::vector<std::pair<const Node*, ValueId>> way;
  while (facts.constants[static_cast<size_t>(source)].empty()) {
    const NodeId producer = graph.value(source).producer;
    if (producer == kNoNode || graph.node(producer).op != "Slice" || !graph.node(producer).domain.empty()) return false;
    way.emplace_back(&graph.node(producer), source);
    source = graph.node(producer).inputs[0];
  }
  const Tensor& whole = facts.constants[static_cast<size_t>(source)];
  if (whole.rank() < 2 || whole.dim(whole.rank() - 1) != whole.dim(whole.rank() - 2) || !is_triangle(whole, triangle))
    return false;
  View view(to_shape(whole.dims()));
  for (size_t i = way.size(); i-- > 0;)
    if (!view.follow(facts, *way[i].first, way[i].second)) return false;
  return view.offset() == Dim(0);
}

}  // namespace attune::rewrite
