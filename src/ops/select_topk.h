// TopK: the largest or smallest elements along an axis.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_topk(InferContext& context);
void run_topk(KernelContext& context);

}  // namespace attune
