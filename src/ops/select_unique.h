// Unique: the distinct elements or slices of a tensor.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_unique(InferContext& context);
void run_unique(KernelContext& context);

}  // namespace attune
