// Matrix products of 8-bit integers: MatMulInteger and QLinearMatMul, and what the com.microsoft products share.
#pragma once

#include "ops/op.h"

#include <functional>

namespace attune {

/// Shape of a numpy-style matrix product; vectors and unknown ranks allowed. Fails when the inner dims differ.
std::optional<Shape> matmul_output_shape(const OpContext& context, const std::optional<Shape>& a,
                                         const std::optional<Shape>& b);

/// Sums of one row of one product: the matrices of a, b and dst that it belongs to, and the row.
struct ProductRow {
  int64_t matrix_a = 0, matrix_b = 0, matrix = 0;
  int64_t row = 0;
  std::span<const int32_t> sums;
};
/// a * b over broadcast stacks; `store` is called once for each row, in parallel. Zero points may be nullptr.
void integer_matmul(const OpContext& context, const Tensor& a, const Tensor* a_zero, const Tensor& b,
                    const Tensor* b_zero, const std::function<void(const ProductRow&)>& store);

double matmul_flops_of(const CostContext& context, int input_a);

void infer_matmul_integer(InferContext& context);
void matmul_integer_kernel(KernelContext& context);
void infer_qlinear_matmul(InferContext& context);
void qlinear_matmul_kernel(KernelContext& context);

}  // namespace attune
