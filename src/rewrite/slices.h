// What a Slice says: its axes, and whether it takes all there is, which is how some exporters write x[:, :].
#pragma once

#include "graph/graph.h"
#include "ops/op.h"

#include <optional>
#include <vector>

namespace attune::rewrite {

/// The axes that it slices of a value of so many dims; nothing when they are not known.
std::optional<std::vector<size_t>> sliced_axes(const Graph& graph, const Node& slice, size_t rank);

/// `input` is the type of what is sliced.
bool takes_everything(const Graph& graph, const Node& slice, const ValueType& input);

}  // namespace attune::rewrite
