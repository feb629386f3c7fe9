// Makes one Reshape of a chain of Reshape, Flatten, Squeeze and Unsqueeze, or nothing where the chain leads back.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int merge_reshapes(Graph& graph);

}  // namespace attune::rewrite
