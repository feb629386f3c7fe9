// LRN.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> lrn_ops() { return {}; }

}  // namespace attune
