// Compares two tensors as the ONNX backend tests do: same dtype, same shape, |a-e| <= atol + rtol*|e|.
#pragma once

#include "graph/tensor.h"

#include <string>

namespace attune::test {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// Empty when they agree, else the first difference.
std::string compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

}  // namespace attune::test
