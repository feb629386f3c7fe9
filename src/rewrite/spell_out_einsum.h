// Einsum of two operands → MatMul, with the transposes and reshapes around it that the letters ask for. Products have
// quick kernels, and what is spelled as products (attention) is recognised.
#pragma once

#include "rewrite/pass.h"

namespace attune::rewrite {

int spell_out_einsum(Graph& graph);

}  // namespace attune::rewrite
