#include "runtime/peak_memory.h"

#include <algorithm>

namespace attune {
namespace {

std::optional<int64_t> value_bytes(const ValueType& type) {
  const auto dims = concrete(type.shape);
  const auto count = dims ? checked_count(*dims) : std::nullopt;
  return count ? byte_size(type.dtype, *count) : std::nullopt;
}

}  // namespace

MemoryEstimate estimate_memory(const Graph& graph, const GraphFacts& facts) {
  MemoryEstimate estimate;
  const auto node_count = static_cast<int64_t>(graph.nodes().size());
  std::vector<int64_t> first(graph.values().size(), -1), last(graph.values().size(), -1);
  for (const ValueId id : graph.inputs) {
    first[static_cast<size_t>(id)] = 0;
    last[static_cast<size_t>(id)] = node_count;
  }
  for (int64_t i = 0; i < node_count; ++i) {
    const Node& node = graph.nodes()[static_cast<size_t>(i)];
    for (const ValueId id : node.outputs)
      if (id != kNoValue) first[static_cast<size_t>(id)] = last[static_cast<size_t>(id)] = i;
    for (const ValueId id : node.inputs)
      if (id != kNoValue) last[static_cast<size_t>(id)] = std::max(last[static_cast<size_t>(id)], i);
    for (const auto& [name, attribute] : node.attributes)
      if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute))
        for (const Capture& capture : (*body)->captures)
          last[static_cast<size_t>(capture.outer)] = std::max(last[static_cast<size_t>(capture.outer)], i);
  }
  for (const ValueId id : graph.outputs) last[static_cast<size_t>(id)] = node_count;

  std::vector<int64_t> change(static_cast<size_t>(node_count) + 2, 0);  // bytes that begin or end to live at a node
  for (size_t i = 0; i < graph.values().size(); ++i) {
    const Value& value = graph.values()[i];
    if (value.is_constant()) {
      estimate.constant_bytes += value.constant.size_bytes();
      continue;
    }
    if (first[i] < 0) continue;
    const auto bytes = value_bytes(facts.types[i]);
    if (!bytes) return estimate;
    change[static_cast<size_t>(first[i])] += *bytes;
    change[static_cast<size_t>(last[i]) + 1] -= *bytes;
  }
  int64_t live = 0, peak = 0;
  for (const int64_t bytes : change) peak = std::max(peak, live += bytes);
  estimate.activation_bytes = peak;
  return estimate;
}

}  // namespace attune
