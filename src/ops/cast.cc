// Conversions between element types: Cast, CastLike, BitCast.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> cast_ops() { return {}; }

}  // namespace attune
