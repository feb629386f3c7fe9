// Half-precision tensors as float ones, for kernels that compute in float or double only.
#pragma once

#include "graph/tensor.h"

namespace attune {

/// f16 and bf16 converted to f32; every other tensor as it is, with shared storage.
Tensor widened(const Tensor& tensor);
/// The tensor to compute `output` in: of f32 for f16 and bf16, else `output` itself.
Tensor wide_output(Tensor& output);
/// Rounds what was computed in wide_output(output) into output.
void narrow(const Tensor& wide, Tensor& output);

}  // namespace attune
