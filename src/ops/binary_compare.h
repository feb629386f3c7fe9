// Comparisons: Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_equal(InferContext& context);
void infer_greater(InferContext& context);
void infer_greater_or_equal(InferContext& context);
void infer_less(InferContext& context);
void infer_less_or_equal(InferContext& context);

void equal_kernel(KernelContext& context);
void greater_kernel(KernelContext& context);
void greater_or_equal_kernel(KernelContext& context);
void less_kernel(KernelContext& context);
void less_or_equal_kernel(KernelContext& context);

}  // namespace attune
