#include "rewrite/slices.h"

#include "ops/node_traits.h"
#include "rewrite/match.h"

namespace attune::rewrite {
namespace {

constexpr int kAsInputs = 10;  // the first opset that takes bounds as inputs

std::optional<std::vector<int64_t>> list(const Graph& graph, const Node& node, size_t input, const char* name) {
  if (node.version >= kAsInputs) return constant_ints(graph, node, input);
  const auto found = node.attributes.find(name);
  const auto* values = found == node.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&found->second);
  return values ? std::optional(*values) : std::nullopt;
}

bool is_given(const Node& node, size_t input, const char* name) {
  return node.version >= kAsInputs ? node.inputs.size() > input && node.inputs[input] != kNoValue
                                   : node.attributes.count(name) > 0;
}

/// Whether an axis that reaches this far makes the whole larger than any memory, the other axes being as they are.
bool is_out_of_reach(int64_t end, const ValueType& type, size_t axis) {
  constexpr double kAddresses = 0x1p47;
  double bytes = static_cast<double>(end) * bit_width(type.dtype) / 8;
  for (size_t i = 0; i < type.shape->size(); ++i)
    if (i != axis && (*type.shape)[i].is_known()) bytes *= static_cast<double>((*type.shape)[i].value());
  return bytes >= kAddresses;
}

}  // namespace

std::optional<std::vector<size_t>> sliced_axes(const Graph& graph, const Node& slice, size_t rank) {
  std::vector<size_t> axes;
  if (!is_given(slice, 3, "axes")) {
    const auto starts = list(graph, slice, 1, "starts");
    if (!starts || starts->size() > rank) return std::nullopt;
    for (size_t i = 0; i < starts->size(); ++i) axes.push_back(i);
    return axes;
  }
  const auto given = list(graph, slice, 3, "axes");
  if (!given) return std::nullopt;
  for (const int64_t one : *given) {
    const auto axis = normalize_axis(one, static_cast<int64_t>(rank));
    if (!axis) return std::nullopt;
    axes.push_back(static_cast<size_t>(*axis));
  }
  return axes;
}

bool takes_everything(const Graph& graph, const Node& slice, const ValueType& input) {
  if (!slice.domain.empty() || slice.op != "Slice" || !input.shape) return false;
  const auto starts = list(graph, slice, 1, "starts"), ends = list(graph, slice, 2, "ends");
  const auto axes = sliced_axes(graph, slice, input.shape->size());
  if (!starts || !ends || !axes || starts->size() != ends->size() || starts->size() != axes->size()) return false;
  std::vector<int64_t> steps(starts->size(), 1);
  if (slice.version >= kAsInputs && is_given(slice, 4, "steps")) {
    const auto given = list(graph, slice, 4, "steps");
    if (!given || given->size() != steps.size()) return false;
    steps = *given;
  }
  for (size_t i = 0; i < axes->size(); ++i) {
    if ((*starts)[i] != 0 || steps[i] != 1) return false;
    const size_t axis = (*axes)[i];
    const Dim& size = (*input.shape)[axis];
    if (size.is_known() ? (*ends)[i] < size.value() : !is_out_of_reach((*ends)[i], input, axis)) return false;
  }
  return true;
}

}  // namespace attune::rewrite
