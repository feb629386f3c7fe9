// Reshape: -1, 0 and symbolic dims.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_reshape(InferContext& context);
void run_reshape(KernelContext& context);

}  // namespace attune
