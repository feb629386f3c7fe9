// GridSample and AffineGrid.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> sample_ops() { return {}; }

}  // namespace attune
