// Conv.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> conv_ops() { return {}; }

}  // namespace attune
