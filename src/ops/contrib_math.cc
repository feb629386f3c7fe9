// Fused matrix and activation operators of com.microsoft: FusedConv, FusedMatMul, Gelu variants.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> contrib_math_ops() { return {}; }

}  // namespace attune
