// Softmax, LogSoftmax, Hardmax.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> softmax_ops() { return {}; }

}  // namespace attune
