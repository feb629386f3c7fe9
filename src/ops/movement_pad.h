// Pad and CenterCropPad.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_pad(InferContext& context);
void run_pad(KernelContext& context);
void infer_center_crop_pad(InferContext& context);
void run_center_crop_pad(KernelContext& context);

}  // namespace attune
