// RoiAlign.
#pragma once

#include "ops/op.h"

namespace attune {

void infer_roi_align(InferContext& context);
void run_roi_align(KernelContext& context);

}  // namespace attune
