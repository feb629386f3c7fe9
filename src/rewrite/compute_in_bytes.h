// DequantizeLinear → operator → QuantizeLinear, the way quantised models are exported, → the operator on bytes:
// QLinearConv, QLinearMatMul, QGemm, QLinearAdd, QLinearMul, pooling; and operators that only move elements as they
// are. Scales and zero points must be constant, and biases whole numbers of scale x_scale * w_scale; all else stays.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int compute_in_bytes(Graph& graph);

}  // namespace attune::rewrite
