// Elementwise functions of one input: arithmetic, trigonometry, rounding, predicates.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> unary_ops() { return {}; }

}  // namespace attune
