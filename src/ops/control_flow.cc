// If, Loop, Scan.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> control_flow_ops() { return {}; }

}  // namespace attune
