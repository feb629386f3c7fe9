// MatMul and Gemm.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> matmul_ops() { return {}; }

}  // namespace attune
