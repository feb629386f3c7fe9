// The early way out of kernels that compute with several dims at once.
#pragma once

#include "ops/context.h"

namespace attune {

/// Whether no wanted output has an element. A dim of zero lets the other dims be anything, so a kernel that multiplies
/// dims or keeps a vector for each asks this first; where it says no, the allocation of an output has checked them.
inline bool all_outputs_empty(KernelContext& context) {
  for (int i = 0; i < context.output_count(); ++i)
    if (context.wants_output(i) && context.output(i).count() > 0) return false;
  return true;
}

}  // namespace attune
