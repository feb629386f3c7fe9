// Reductions over axes, ArgMax and ArgMin.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> reduce_ops() { return {}; }

}  // namespace attune
