// Dropout: the identity in inference, random zeros in training mode.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_dropout(InferContext& context);
void run_dropout(KernelContext& context);

}  // namespace attune
