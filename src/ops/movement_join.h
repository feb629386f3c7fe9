// Concat and Split: tensors along one axis, joined and parted.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_concat(InferContext& context);
void run_concat(KernelContext& context);
void infer_split(InferContext& context);
void run_split(KernelContext& context);

}  // namespace attune
