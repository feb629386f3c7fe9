// How far the outputs of a model are from those it should have: the error that an accuracy budget is about.
#pragma once

#include "graph/tensor.h"

#include <span>

namespace attune {

/// In words, for plans and reports.
inline constexpr const char* kOutputErrorMetric =
    "largest difference of an output from that in f32, over the root mean square of the latter";

/// The error of one output. Floats: the largest |got - truth| divided by the root mean square of the truth, over the
/// elements that are finite in the truth; 0 where nothing differs, infinite where something does and that mean is 0.
/// Infinite, too, where one is NaN or infinite and the other is not the same. Integers and bools: 0 when all are equal,
/// else 1. Another dtype or another shape: infinite.
double output_error(const Tensor& got, const Tensor& truth);

/// The largest over all outputs.
double output_error(std::span<const Tensor> got, std::span<const Tensor> truth);

}  // namespace attune
