// A tensor in a few numbers, for people.
#pragma once

#include "graph/tensor.h"

namespace attune {

struct TensorSummary {
  double min = 0, max = 0, mean = 0;  // over the finite elements; 0 when there are none
  int64_t not_finite = 0;
};

TensorSummary summarize(const Tensor& tensor);

}  // namespace attune
