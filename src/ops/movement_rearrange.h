// Operators with a fixed rearrangement: DepthToSpace, SpaceToDepth, ReverseSequence, Trilu.
#pragma once

#include "ops/context.h"

namespace attune {

void infer_depth_to_space(InferContext& context);
void run_depth_to_space(KernelContext& context);
void infer_space_to_depth(InferContext& context);
void run_space_to_depth(KernelContext& context);
void infer_reverse_sequence(InferContext& context);
void run_reverse_sequence(KernelContext& context);
void infer_trilu(InferContext& context);
void run_trilu(KernelContext& context);

}  // namespace attune
