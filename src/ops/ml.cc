// Operators of ai.onnx.ml over plain tensors.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> ml_ops() { return {}; }

}  // namespace attune
