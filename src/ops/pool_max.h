// Kernels of MaxPool and MaxUnpool.
#pragma once

#include "ops/op.h"

namespace attune {

void run_max_pool(KernelContext& context);

void infer_max_unpool(InferContext& context);
void run_max_unpool(KernelContext& context);

}  // namespace attune
