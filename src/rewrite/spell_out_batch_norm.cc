#include "rewrite/spell_out_batch_norm.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "rewrite/append_node.h"
#include "rewrite/batch_norm.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int kOpset = 14;

/// One number for each channel, as many dims as spread over a map of this rank.
ValueId add_channels(Graph& graph, const std::string& name, const std::vector<double>& values, DType dtype,
                     size_t rank) {
  Dims dims(rank - 1, 1);
  dims[0] = std::ssize(values);
  return graph.add_constant(name, convert(Tensor::from<double>(std::move(dims), values), dtype));
}

}  // namespace

int spell_out_batch_norm(Graph& graph) {
  const auto is_norm = [&](const Node& node) { return is_inference_norm(graph, node); };
  if (std::ranges::none_of(graph.nodes(), is_norm)) return 0;
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  std::vector<Node> nodes;
  int changes = 0;
  for (const Node& node : std::vector<Node>(graph.nodes())) {
    const ValueType type = is_norm(node) ? facts.types[static_cast<size_t>(node.inputs[0])] : ValueType{};
    const auto dims = concrete(type.shape);
    if (!dims || dims->size() < 2 || type.dtype != DType::f32) {
      nodes.push_back(node);
      continue;
    }
    ++changes;
    const ChannelMap map = channel_map(graph, node);
    const ValueId scale = add_channels(graph, node.name + "_scale", map.scale, type.dtype, dims->size());
    const ValueId shift = add_channels(graph, node.name + "_shift", map.shift, type.dtype, dims->size());
    const ValueId scaled = append_node(graph, nodes, {node.name + "_scaled", "Mul", kOpset, {node.inputs[0], scale}});
    append_node(graph, nodes, {node.name, "Add", kOpset, {scaled, shift}});
    nodes.back().outputs = {node.outputs[0]};
  }
  if (changes > 0) graph.set_nodes(std::move(nodes));
  return changes;
}

}  // namespace attune::rewrite
