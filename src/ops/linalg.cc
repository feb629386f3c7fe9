// Determinants.
#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

void infer_det(InferContext& context) {
  const auto& shape = context.shape(0);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const size_t rank = shape->size();
  if (rank < 2) context.fail("the input is {}, expected matrices", to_text(*shape));
  const Dim &rows = (*shape)[rank - 2], &columns = (*shape)[rank - 1];
  if (rows.is_known() && columns.is_known() && rows.value() != columns.value())
    context.fail("the matrices of {} are not square", to_text(*shape));
  context.set_output(0, context.dtype(0), Shape(shape->begin(), shape->end() - 2));
}

/// LU decomposition with partial pivoting, in place; the determinant is the product of the pivots.
double determinant(double* matrix, int64_t n) {
  double result = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t row = k + 1; row < n; ++row)
      if (std::fabs(matrix[row * n + k]) > std::fabs(matrix[pivot * n + k])) pivot = row;
    if (matrix[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      std::swap_ranges(matrix + k * n, matrix + (k + 1) * n, matrix + pivot * n);
      result = -result;
    }
    result *= matrix[k * n + k];
    for (int64_t row = k + 1; row < n; ++row) {
      const double factor = matrix[row * n + k] / matrix[k * n + k];
      for (int64_t column = k + 1; column < n; ++column) matrix[row * n + column] -= factor * matrix[k * n + column];
    }
  }
  return result;
}

void run_det(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const int64_t n = src.dim(src.rank() - 1);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, n * n * n / 3));
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    const T* matrices = src.data<T>();
    T* results = dst.mutable_data<T>();
    parallel_for(dst.count(), grain, [&](int64_t begin, int64_t end) {
      std::vector<double> work(static_cast<size_t>(n * n));
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t k = 0; k < n * n; ++k)
          work[static_cast<size_t>(k)] = static_cast<double>(static_cast<C>(matrices[i * n * n + k]));
        results[i] = static_cast<T>(static_cast<C>(determinant(work.data(), n)));
      }
    });
  });
}

double det_flops(const CostContext& context) {
  const Dims dims = context.input_dims(0);
  const double n = dims.empty() ? 0 : static_cast<double>(dims.back());
  return context.input_elements(0) * n * 2 / 3;
}

}  // namespace

std::span<const OpDef> linalg_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Det",
       .since = 11,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_det,
       .kernel = run_det,
       .flops = det_flops},
  };
  return ops;
}

}  // namespace attune
