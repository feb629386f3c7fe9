// GRU layers by groups of units: all products of a group with one gate, then those with the next.
#pragma once

#include "kernel/kernel.h"
#include "providers/native/recurrent_shape.h"

#include <memory>

namespace attune::native {

/// For operands of f32; `threads` for each direction.
std::unique_ptr<Kernel> build_grouped_gru(const RecurrentShape& shape, bool has_bias, int threads);

}  // namespace attune::native
