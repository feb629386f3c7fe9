// Transformer operators of com.microsoft: attention, skip and embedding normalisation.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> contrib_transformer_ops() { return {}; }

}  // namespace attune
