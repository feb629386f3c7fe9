// Clip and Shrink: activations with bounds, over every numeric dtype.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_clip(InferContext& context);
void clip_kernel(KernelContext& context);
void shrink_kernel(KernelContext& context);

}  // namespace attune
