// Questions about a node that several rooms ask.
#pragma once

#include "graph/graph.h"

#include <algorithm>

namespace attune {

/// If, Loop, Scan and the like.
inline bool has_subgraph(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
    return std::holds_alternative<std::shared_ptr<Graph>>(attribute.second);
  });
}

/// Draws anew at each run, so it must neither be folded nor remembered.
inline bool is_random(const Node& node) {
  return node.domain.empty() &&
         (node.op.starts_with("Random") || node.op == "Multinomial" || node.op == "Bernoulli" || node.op == "Dropout");
}

/// Hands its first input on under other dims at most, without looking at the contents.
inline bool renames_dims(const Node& node) {
  constexpr std::string_view kOps[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op) != std::end(kOps);
}

/// An attribute that is optional, of kind T: the fallback when it is missing or of another kind.
template <class T> T attribute_or(const Attributes& attributes, std::string_view name, T fallback) {
  const auto found = attributes.find(name);
  const T* value = found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  return value ? *value : fallback;
}

/// Whether every number of a list attribute is this one, the one that ONNX takes where the list is missing.
inline bool has_only(const Attributes& attributes, std::string_view name, int64_t value) {
  const auto values = attribute_or<std::vector<int64_t>>(attributes, name, {});
  return std::all_of(values.begin(), values.end(), [&](int64_t one) { return one == value; });
}

}  // namespace attune
