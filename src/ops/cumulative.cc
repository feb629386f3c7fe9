// CumSum, CumProd.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> cumulative_ops() { return {}; }

}  // namespace attune
