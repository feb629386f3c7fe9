// GRU layers by groups of units: all products of a group with one gate, then those with the next.
#pragma once

#include "kernel/kernel.h"
#include "providers/native/recurrent_shares.h"

#include <memory>

namespace attune::native {

/// For operands of f32.
std::unique_ptr<Kernel> build_grouped_gru(const RecurrentShape& shape, bool has_bias, const ThreadShares& shares);

}  // namespace attune::native
