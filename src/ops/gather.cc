// Gather, GatherElements, GatherND.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> gather_ops() { return {}; }

}  // namespace attune
