#include "runtime/tensor_summary.h"

#include "ops/convert.h"

#include <algorithm>
#include <cmath>

namespace attune {

TensorSummary summarize(const Tensor& tensor) {
  const Tensor values = convert(tensor, DType::f64);
  const double* data = values.data<double>();
  TensorSummary summary;
  double sum = 0;
  int64_t finite = 0;
  for (int64_t i = 0; i < values.count(); ++i) {
    if (!std::isfinite(data[i])) {
      ++summary.not_finite;
      continue;
    }
    summary.min = finite == 0 ? data[i] : std::min(summary.min, data[i]);
    summary.max = finite == 0 ? data[i] : std::max(summary.max, data[i]);
    sum += data[i];
    ++finite;
  }
  if (finite > 0) summary.mean = sum / static_cast<double>(finite);
  return summary;
}

}  // namespace attune
