// Resize and Upsample.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> resize_ops() { return {}; }

}  // namespace attune
