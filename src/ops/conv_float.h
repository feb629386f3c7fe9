// Convolution of float and double tensors: the work under Conv and those who add something to it.
#pragma once

#include "ops/conv_shape.h"

namespace attune {

/// dst (N, groups * out_channels, out…) = src (N, groups * in_channels, in…) convolved with weights
/// (groups * out_channels, in_channels, kernel…) plus bias, which may be nullptr.
void convolve(const ConvGeometry& geometry, const float* src, const float* weights, const float* bias, float* dst);
void convolve(const ConvGeometry& geometry, const double* src, const double* weights, const double* bias, double* dst);

}  // namespace attune
