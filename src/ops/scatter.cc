// Scatter, ScatterElements, ScatterND, TensorScatter.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> scatter_ops() { return {}; }

}  // namespace attune
