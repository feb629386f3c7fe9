// Convolutions of 8-bit integers: ConvInteger and QLinearConv.
#pragma once

#include "ops/op.h"

namespace attune {

void infer_conv_integer(InferContext& context);
void conv_integer_kernel(KernelContext& context);
double conv_integer_flops(const CostContext& context);
void infer_qlinear_conv(InferContext& context);
void qlinear_conv_kernel(KernelContext& context);
double qlinear_conv_flops(const CostContext& context);

}  // namespace attune
