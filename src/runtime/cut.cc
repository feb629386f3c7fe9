#include "runtime/cut.h"

#include "ops/convert.h"
#include "ops/node_traits.h"

#include <algorithm>

namespace attune {
namespace {

/// Integers that a Slice takes as an input, or as an attribute before opset 10; nothing when they are not known.
std::optional<std::vector<int64_t>> numbers(const Node& node, const GraphFacts& facts, size_t input, const char* name) {
  if (const auto found = node.attributes.find(name); found != node.attributes.end())
    if (const auto* values = std::get_if<std::vector<int64_t>>(&found->second)) return *values;
  if (input >= node.inputs.size() || node.inputs[input] == kNoValue) return std::nullopt;
  const Tensor& tensor = facts.constants[static_cast<size_t>(node.inputs[input])];
  if (tensor.empty()) return std::nullopt;
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.count(); ++i) values.push_back(element_as_int(tensor, i));
  return values;
}

bool has_input(const Node& node, size_t i) { return i < node.inputs.size() && node.inputs[i] != kNoValue; }

std::optional<Cut> cut_of_slice(const Node& node, const Workload& workload, const GraphFacts& facts) {
  const Dims &from = workload.input(0).dims, &to = workload.output(0).dims;
  const auto starts = numbers(node, facts, 1, "starts");
  const auto axes = numbers(node, facts, 3, "axes");
  const auto steps = numbers(node, facts, 4, "steps");
  if (!starts || (has_input(node, 3) && !axes) || (has_input(node, 4) && !steps)) return std::nullopt;
  if (steps && std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step != 1; })) return std::nullopt;
  std::optional<Cut> cut;
  const auto rank = static_cast<int64_t>(from.size());
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? axes->at(i) : static_cast<int64_t>(i);
    if (axis < 0) axis += rank;
    const auto at = static_cast<size_t>(axis);
    if (from[at] == to[at]) continue;  // all of it
    if (cut) return std::nullopt;
    const int64_t start = (*starts)[i] < 0 ? (*starts)[i] + from[at] : (*starts)[i];
    cut = Cut{at, std::clamp<int64_t>(start, 0, from[at])};
  }
  return cut;
}

}  // namespace

std::optional<Cut> find_cut(const Node& node, const Workload& workload, const GraphFacts& facts) {
  if (!node.domain.empty() || !workload.has_input(0) || workload.outputs.empty() || !workload.outputs[0])
    return std::nullopt;
  if (node.op == "Slice") return cut_of_slice(node, workload, facts);
  if (node.op != "Split") return std::nullopt;
  const auto rank = static_cast<int64_t>(workload.input(0).dims.size());
  const int64_t axis = attribute_or<int64_t>(node.attributes, "axis", 0);
  return Cut{static_cast<size_t>(axis < 0 ? axis + rank : axis), 0};
}

}  // namespace attune
