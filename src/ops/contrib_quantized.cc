// Quantized operators of com.microsoft: QLinearAdd and the like.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> contrib_quantized_ops() { return {}; }

}  // namespace attune
