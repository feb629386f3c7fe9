// Nodes that cut a value along one axis.
#pragma once

#include "kernel/workload.h"

#include <optional>

namespace attune {

struct Cut {
  size_t axis = 0;
  int64_t begin = 0;  // of the first output; the others follow
};

/// What a Split or Slice cuts, when it is known and along one axis without gaps; nothing otherwise.
std::optional<Cut> find_cut(const Node& node, const Workload& workload, const GraphFacts& facts);

}  // namespace attune
