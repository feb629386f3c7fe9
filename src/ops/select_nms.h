// NonMaxSuppression: boxes by score, less those that overlap a better one.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_non_max_suppression(InferContext& context);
void run_non_max_suppression(KernelContext& context);

}  // namespace attune
