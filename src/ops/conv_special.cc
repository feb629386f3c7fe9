// DeformConv and CausalConvWithState.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> conv_special_ops() { return {}; }

}  // namespace attune
