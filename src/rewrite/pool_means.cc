#include "rewrite/pool_means.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/match.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int kSqueezeOpset = 13, kPoolOpset = 1;

/// Every axis but the first two, of a float map.
bool is_mean_of_maps(const Graph& graph, const GraphFacts& facts, const Node& node) {
  if (!node.domain.empty() || node.op != "ReduceMean") return false;
  const ValueType& type = facts.types[static_cast<size_t>(node.inputs[0])];
  if (!type.shape || type.shape->size() < 3 || type.shape->size() > 5 || !is_float(type.dtype)) return false;
  auto axes = axes_of(graph, node);
  if (!axes) return false;
  const auto rank = static_cast<int64_t>(type.shape->size());
  for (int64_t& axis : *axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes->begin(), axes->end());
  if (std::ssize(*axes) != rank - 2) return false;
  for (int64_t i = 0; i < rank - 2; ++i)
    if ((*axes)[static_cast<size_t>(i)] != i + 2) return false;
  return true;
}

}  // namespace

int pool_means(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  std::vector<Node> nodes;
  int changes = 0;
  for (const Node& node : graph.nodes()) {
    if (!is_mean_of_maps(graph, facts, node)) {
      nodes.push_back(node);
      continue;
    }
    ++changes;
    Node pool;
    pool.name = node.name;
    pool.op = "GlobalAveragePool";
    pool.version = kPoolOpset;
    pool.inputs = {node.inputs[0]};
    pool.outputs = node.outputs;
    if (attribute_or<int64_t>(node.attributes, "keepdims", 1) != 0) {
      nodes.push_back(std::move(pool));
      continue;
    }
    Value kept;
    kept.name = graph.value(node.outputs[0]).name + "_kept";
    pool.outputs = {graph.add_value(std::move(kept))};
    std::vector<int64_t> axes;
    for (size_t i = 2; i < facts.types[static_cast<size_t>(node.inputs[0])].shape->size(); ++i)
      axes.push_back(static_cast<int64_t>(i));
    Node squeeze;
    squeeze.name = node.name + "_squeeze";
    squeeze.op = "Squeeze";
    squeeze.version = kSqueezeOpset;
    squeeze.inputs = {pool.outputs[0], graph.add_constant(node.name + "_axes", Tensor::vector(axes))};
    squeeze.outputs = node.outputs;
    nodes.push_back(std::move(pool));
    nodes.push_back(std::move(squeeze));
  }
  if (changes > 0) graph.set_nodes(std::move(nodes));
  return changes;
}

}  // namespace attune::rewrite
