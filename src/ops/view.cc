// Operators that only rename dims: Shape, Size, Reshape, Flatten, Squeeze, Unsqueeze, Identity, Dropout.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> view_ops() { return {}; }

}  // namespace attune
