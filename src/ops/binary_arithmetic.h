// Add, Sub, Mul, Div, Mod and Pow.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_add(InferContext& context);
void infer_sub(InferContext& context);
void infer_mul(InferContext& context);
void infer_div(InferContext& context);
void infer_mod(InferContext& context);
void infer_pow(InferContext& context);

void add_kernel(KernelContext& context);
void sub_kernel(KernelContext& context);
void mul_kernel(KernelContext& context);
void div_kernel(KernelContext& context);
void mod_kernel(KernelContext& context);
void pow_kernel(KernelContext& context);

}  // namespace attune
