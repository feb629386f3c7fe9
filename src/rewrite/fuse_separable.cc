#include "rewrite/fuse_separable.h"

#include "ops/epilogue.h"
#include "ops/fused_separable.h"
#include "ops/node_traits.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int64_t kMapRank = 4;

bool is_convolution(const Node& node) {
  return (node.domain.empty() && node.op == "Conv") || (node.domain == "attune" && node.op == "FusedConv");
}

/// A filter for each channel, and an epilogue without operands.
bool is_depthwise(const Graph& graph, const Node& node) {
  const Tensor* weights = is_convolution(node) ? constant_input(graph, node, 1) : nullptr;
  if (weights == nullptr || weights->rank() != kMapRank || weights->dim(1) != 1 || weights->dim(0) < 2) return false;
  return attribute_or<int64_t>(node.attributes, "group", 1) == weights->dim(0) &&
         std::ranges::none_of(parse_epilogue(node.attributes), &EpilogueStep::is_binary);
}

/// 1x1 over every pixel.
bool is_pointwise(const Graph& graph, const Node& node) {
  const Tensor* weights = is_convolution(node) ? constant_input(graph, node, 1) : nullptr;
  if (weights == nullptr || weights->rank() != kMapRank || weights->dim(2) != 1 || weights->dim(3) != 1) return false;
  return attribute_or<int64_t>(node.attributes, "group", 1) == 1 && has_only(node.attributes, "strides", 1) &&
         has_only(node.attributes, "pads", 0);
}

}  // namespace

Places fuse_separable(Graph& graph, const AskedFor& asked_for) {
  const Uses uses(graph);
  std::vector<bool> removed(graph.nodes().size(), false);
  Places places;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& depthwise = graph.nodes()[i];
    if (!is_depthwise(graph, depthwise)) continue;
    const NodeId reader = uses.only_reader(depthwise.outputs[0]);
    if (reader == kNoNode) continue;
    Node& pointwise = graph.node(reader);
    if (!is_pointwise(graph, pointwise) || pointwise.inputs[0] != depthwise.outputs[0]) continue;
    const bool asked = asked_for.names.count(pointwise.name) > 0;
    places.push_back({.anchor = part_of(pointwise), .parts = {part_of(depthwise)}, .is_fused = asked});
    if (!asked) continue;
    pointwise = fused_separable(depthwise, pointwise);
    removed[i] = true;
  }
  if (std::ranges::find(removed, true) != removed.end()) erase_nodes(graph, removed);
  return places;
}

}  // namespace attune::rewrite
