// Operators on truth values and on bits: And, Or, Xor, their bitwise forms and BitShift.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_and(InferContext& context);
void infer_or(InferContext& context);
void infer_xor(InferContext& context);
void infer_bitwise(InferContext& context);
void infer_bit_shift(InferContext& context);

void and_kernel(KernelContext& context);
void or_kernel(KernelContext& context);
void xor_kernel(KernelContext& context);
void bitwise_and_kernel(KernelContext& context);
void bitwise_or_kernel(KernelContext& context);
void bitwise_xor_kernel(KernelContext& context);
void bit_shift_kernel(KernelContext& context);

}  // namespace attune
