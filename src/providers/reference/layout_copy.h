// Copies a tensor from one memory layout to another, plainly.
#pragma once

#include "kernel/tensor_spec.h"

#include <cstddef>

namespace attune {

/// Both operands have the same dims and a dtype of whole bytes. Padding channels of a blocked target become zero.
void copy_layout(const TensorSpec& source, const std::byte* src, const TensorSpec& target, std::byte* dst);

}  // namespace attune
