// Checks and window arithmetic that convolution, deconvolution and pooling share.
#pragma once

#include "kernel/workload.h"
#include "ops/conv_shape.h"

#include <initializer_list>

namespace attune::onednn {

/// Windows as oneDNN takes them: dilates count the gaps between taps, so 0 is dense.
struct WindowDims {
  Dims kernel, strides, dilates, pads_begin, pads_end;
};
WindowDims window_dims(std::span<const WindowAxis> axes);

/// Dims of convolution weights with the groups as an axis of their own, where there are several.
Dims grouped_weights(Dims dims, int64_t groups);

/// Throws UnsupportedError unless the operand has one to three spatial dims.
void require_spatial(const TensorSpec& spec);

/// Throws UnsupportedError unless these inputs are all f32 or all bf16.
void require_float(const Workload& workload, std::initializer_list<size_t> inputs);

}  // namespace attune::onednn
