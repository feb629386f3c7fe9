#include "rewrite/fold_constants.h"

#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "ops/run_node.h"
#include "rewrite/assumed_shapes.h"
#include "rewrite/share_constants.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

constexpr int64_t kMostBytes = int64_t{256} << 20;  // the transposed embedding of a language model fits

bool may_fold(const Graph& graph, const Node& node) {
  if (is_random(node) || has_subgraph(node)) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId id) { return id == kNoValue || graph.value(id).is_constant(); });
}

/// Nothing when the node is better left to the run: too large, or it fails (it may never run).
std::vector<Tensor> compute(const Graph& graph, const Node& node) {
  std::vector<Tensor> held;
  for (const ValueId id : node.inputs) {
    const Tensor constant = id == kNoValue ? Tensor() : graph.value(id).constant;
    // What is not looked at need not be in memory.
    held.push_back(renames_dims(node) ? constant : constant.held());
  }
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < held.size(); ++i) inputs.push_back(node.inputs[i] == kNoValue ? nullptr : &held[i]);
  try {
    for (const ValueType& type : infer_node(node, inputs)) {
      const auto dims = concrete(type.shape);
      const auto count = dims ? checked_count(*dims) : std::nullopt;
      if (dims && (!count || byte_size(type.dtype, *count).value_or(kMostBytes + 1) > kMostBytes)) return {};
    }
    return run_node(node, inputs);
  } catch (const Error&) {
    return {};
  }
}

void make_constant(Value& value, Tensor contents) {
  value.dtype = contents.dtype();
  value.shape = to_shape(contents.dims());
  value.constant = std::move(contents);
}

/// What follows from shapes alone, such as what Shape gives of a value whose shape is known.
int fold_known(Graph& graph) {
  const auto looks_at_shape = [](const Node& node) {
    return node.domain.empty() && (node.op == "Shape" || node.op == "Size");
  };
  if (std::ranges::none_of(graph.nodes(), looks_at_shape)) return 0;
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  const std::vector<bool> assumed = assumed_shapes(graph, facts);
  const auto is_known = [&](ValueId id) {
    return id == kNoValue || (!facts.constants[static_cast<size_t>(id)].empty() && !assumed[static_cast<size_t>(id)]);
  };
  std::vector<bool> folded(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (is_random(node) || has_subgraph(node) || !std::ranges::all_of(node.outputs, is_known)) continue;
    for (const ValueId id : node.outputs)
      if (id != kNoValue) make_constant(graph.value(id), facts.constants[static_cast<size_t>(id)]);
    folded[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, folded);
  return changes;
}

/// The nodes of this graph, not those of bodies.
int fold_nodes(Graph& graph) {
  std::vector<bool> folded(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!may_fold(graph, node)) continue;
    std::vector<Tensor> results = compute(graph, node);
    if (results.empty()) continue;
    for (size_t o = 0; o < node.outputs.size(); ++o)
      if (node.outputs[o] != kNoValue) make_constant(graph.value(node.outputs[o]), std::move(results[o]));
    for (const ValueId id : node.inputs)
      if (id != kNoValue) graph.value(id).constant.release_pages();  // read for the last time, most likely
    folded[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, folded);
  return changes;
}

}  // namespace

int fold_constants(Graph& graph) {
  int changes = fold_nodes(graph);
  while (const int known = fold_known(graph)) changes += known + fold_nodes(graph);
  // What became constant here may be all that a body was waiting for.
  if (share_constants(graph) == 0) return changes;
  for (Node& node : graph.nodes())
    for (auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) changes += fold_constants(**body);
  return changes;
}

}  // namespace attune::rewrite
