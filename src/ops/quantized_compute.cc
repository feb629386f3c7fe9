// Integer convolution and matrix products: QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger.
#include "ops/families.h"

namespace attune {

std::span<const OpDef> quantized_compute_ops() { return {}; }

}  // namespace attune
