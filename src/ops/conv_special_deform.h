// DeformConv: a convolution whose taps read at positions moved by an input.
#pragma once

#include "ops/op.h"

namespace attune {

void infer_deform_conv(InferContext& context);
void run_deform_conv(KernelContext& context);
double deform_conv_flops(const CostContext& context);

}  // namespace attune
