#include "rewrite/remove_identities.h"

#include "ops/convert.h"
#include "ops/infer_graph.h"
#include "ops/node_traits.h"
#include "rewrite/slices.h"
#include "rewrite/uses.h"

#include <algorithm>

namespace attune::rewrite {
namespace {

bool is_all(const Tensor* tensor, double number) {
  constexpr int64_t kMostElements = 1 << 16;  // larger ones are weights
  if (tensor == nullptr || tensor->count() > kMostElements) return false;
  for (int64_t i = 0; i < tensor->count(); ++i)
    if (element_as_double(*tensor, i) != number) return false;
  return true;
}

/// The input that an operator hands on when its dims and dtype are those of the output; nothing when it does more.
std::optional<size_t> handed_on(const Graph& graph, const Node& node) {
  const std::string& op = node.op;
  const auto second_is = [&](double number) { return is_all(constant_input(graph, node, 1), number); };
  if (op == "Cast" || op == "Expand" || renames_dims(node)) return 0;
  if ((op == "Concat" || op == "Sum" || op == "Mean" || op == "Max" || op == "Min") && node.inputs.size() == 1)
    return 0;
  if (op == "Sub" || op == "Div" || op == "Pow")
    return second_is(op == "Sub" ? 0 : 1) ? std::optional<size_t>(0) : std::nullopt;
  if (op == "Add" || op == "Mul") {
    // -0 + 0 is 0, a difference that nothing but a division by it could tell.
    const double neutral = op == "Add" ? 0 : 1;
    if (second_is(neutral)) return 0;
    if (is_all(constant_input(graph, node, 0), neutral)) return 1;
  }
  if (op == "Pad") {
    const Tensor* pads = constant_input(graph, node, 1);
    const auto as_attribute = attribute_or<std::vector<int64_t>>(node.attributes, "pads", {1});
    const bool none = std::all_of(as_attribute.begin(), as_attribute.end(), [](int64_t pad) { return pad == 0; });
    if (pads != nullptr ? is_all(pads, 0) : none) return 0;
  }
  if (op == "Tile" && second_is(1)) return 0;
  return std::nullopt;
}

/// The input that the output is the same as, provably.
std::optional<size_t> forwarded(const Graph& graph, const Node& node, const GraphFacts& facts) {
  if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) return std::nullopt;
  if (node.op == "Identity") return 0;
  if (node.op == "Dropout") {
    const bool wants_mask = node.outputs.size() > 1 && node.outputs[1] != kNoValue;
    const bool may_train = node.inputs.size() > 2 && node.inputs[2] != kNoValue && scalar_input(graph, node, 2) != 0.0;
    return wants_mask || may_train ? std::nullopt : std::optional<size_t>(0);
  }
  if (takes_everything(graph, node, facts.types[static_cast<size_t>(node.inputs[0])])) return 0;
  const auto input = handed_on(graph, node);
  if (!input) return std::nullopt;
  const ValueType& from = facts.types[static_cast<size_t>(node.inputs[*input])];
  const ValueType& to = facts.types[static_cast<size_t>(node.outputs[0])];
  if (from.dtype == DType::undefined || from.dtype != to.dtype) return std::nullopt;
  if (node.op == "Cast") return input;
  return from.shape && to.shape && *from.shape == *to.shape ? input : std::nullopt;
}

}  // namespace

int remove_identities(Graph& graph) {
  GraphFacts facts;
  try {
    facts = infer_graph(graph);
  } catch (const UserError&) {
    return 0;  // a body for other shapes: left as it is
  }
  std::vector<bool> removed(graph.nodes().size(), false);
  int changes = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    const auto input = forwarded(graph, node, facts);
    if (!input) continue;
    const ValueId from = node.outputs[0], to = node.inputs[*input];
    // An output keeps its name, so the node that gives it that name stays.
    if (std::find(graph.outputs.begin(), graph.outputs.end(), from) != graph.outputs.end()) continue;
    redirect(graph, from, to);
    removed[i] = true;
    ++changes;
  }
  if (changes > 0) erase_nodes(graph, removed);
  return changes;
}

}  // namespace attune::rewrite
