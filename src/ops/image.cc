// ImageDecoder.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> image_ops() { return {}; }

}  // namespace attune
