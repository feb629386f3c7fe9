// ConvTranspose and Col2Im.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> conv_transpose_ops() { return {}; }

}  // namespace attune
