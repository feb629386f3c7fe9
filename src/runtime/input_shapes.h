// Whether a graph is planned once, or anew for every new shape of its inputs.
#pragma once

#include "graph/graph.h"

#include <algorithm>
#include <cstdint>

namespace attune {

enum class InputShapes : uint8_t { fixed, open };

inline InputShapes input_shapes(const Graph& graph) {
  const auto open = [&](ValueId id) { return !concrete(graph.value(id).shape); };
  const bool any = std::any_of(graph.inputs.begin(), graph.inputs.end(), open) ||
                   std::any_of(graph.captures.begin(), graph.captures.end(),
                               [&](const Capture& capture) { return open(capture.inner); });
  return any ? InputShapes::open : InputShapes::fixed;
}

}  // namespace attune
