// Activation functions.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> activation_ops() { return {}; }

}  // namespace attune
