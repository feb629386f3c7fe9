// Slice: strided ranges, symbolic and concrete.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_slice(InferContext& context);
void run_slice(KernelContext& context);

}  // namespace attune
