// Elementwise functions of two inputs with broadcasting: arithmetic, comparison, logic, bits.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> binary_ops() { return {}; }

}  // namespace attune
