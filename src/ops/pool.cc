// Pooling over windows and over whole maps, MaxUnpool.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> pool_ops() { return {}; }

}  // namespace attune
