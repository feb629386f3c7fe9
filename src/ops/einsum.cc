// Einsum.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> einsum_ops() { return {}; }

}  // namespace attune
