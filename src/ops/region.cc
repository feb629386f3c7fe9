// Operators over regions of interest: MaxRoiPool, RoiAlign.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> region_ops() { return {}; }

}  // namespace attune
