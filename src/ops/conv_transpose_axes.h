// The windows of ConvTranspose with its attributes resolved.
#pragma once

#include "ops/conv_shape.h"

namespace attune {

/// The windows that would slide over the output of ConvTranspose and give its input: `in` is an extent of dst, `out`
/// one of src. All dims are those of whole tensors; pad_end is left 0, as the output's extent implies it.
std::vector<WindowAxis> conv_transpose_axes(const OpContext& context, const Dims& src, const Dims& weights,
                                            const Dims& dst);

}  // namespace attune
