// ArgMax and ArgMin: the index of an extreme along one axis.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_arg_reduce(InferContext& context);
void run_arg_max(KernelContext& context);
void run_arg_min(KernelContext& context);

}  // namespace attune
