// Operators that pick or order elements: NonZero, Compress, Unique, TopK, OneHot, NonMaxSuppression.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> select_ops() { return {}; }

}  // namespace attune
