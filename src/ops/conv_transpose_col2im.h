// Col2Im, beside ConvTranspose.
#pragma once

#include "ops/op.h"

namespace attune {

void infer_col2im(InferContext& context);
void run_col2im(KernelContext& context);
double col2im_flops(const CostContext& context);

}  // namespace attune
