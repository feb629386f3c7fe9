// Gemm(A, W, C) with constant W → Add(MatMul(A, W * alpha, transposed as asked), C * beta); the add then fuses.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int turn_gemm_into_matmul(Graph& graph);

}  // namespace attune::rewrite
