#include "ops/quantized_matmul.h"

#include "base/parallel.h"
#include "ops/broadcast.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/integer_product.h"
#include "ops/strided_walk.h"

#include <algorithm>

namespace attune {

std::optional<Shape> matmul_output_shape(const OpContext& context, const std::optional<Shape>& a,
                                         const std::optional<Shape>& b) {
  if ((a && a->empty()) || (b && b->empty())) context.fail("a scalar cannot be multiplied as a matrix");
  if (!a || !b) return std::nullopt;
  const Dim &inner_a = a->back(), &inner_b = b->size() == 1 ? (*b)[0] : (*b)[b->size() - 2];
  if (inner_a.is_known() && inner_b.is_known() && inner_a.value() != inner_b.value())
    context.fail("inner dims do not match: {} and {}", inner_a.value(), inner_b.value());
  const Shape stack_a(a->begin(), a->end() - std::min<std::ptrdiff_t>(2, std::ssize(*a)));
  const Shape stack_b(b->begin(), b->end() - std::min<std::ptrdiff_t>(2, std::ssize(*b)));
  Shape result = broadcast_shapes(stack_a, stack_b, context);
  if (a->size() > 1) result.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) result.push_back(b->back());
  return result;
}

void integer_matmul(const OpContext& context, const Tensor& a, const Tensor* a_zero, const Tensor& b,
                    const Tensor* b_zero, const std::function<void(const ProductRow&)>& store) {
  const auto stack_of = [](const Dims& dims) {
    return Dims(dims.begin(), dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(dims)));
  };
  const Dims stack_a = stack_of(a.dims()), stack_b = stack_of(b.dims());
  const Dims stack = broadcast_dims(stack_a, stack_b, context);
  const int64_t m = a.rank() < 2 ? 1 : a.dim(a.rank() - 2);
  const int64_t n = b.rank() < 2 ? 1 : b.dims().back();
  const int64_t k = a.dims().back();
  const int64_t matrices = element_count(stack);
  if (matrices == 0 || m == 0 || n == 0) return;

  const Tensor left = centered_matrices(context, a, a_zero, Lines::rows);
  const Tensor right = centered_matrices(context, b, b_zero, Lines::columns);
  Tensor sums = Tensor::allocate(DType::i32, {m, n});
  const int32_t* values = sums.data<int32_t>();
  StridedWalk<2> walk(stack, {broadcast_strides(stack_a, stack), broadcast_strides(stack_b, stack)});
  for (int64_t i = 0; i < matrices; ++i, walk.next()) {
    const int64_t matrix_a = walk.offset(0), matrix_b = walk.offset(1);
    integer_product(m, n, k, left.data<int16_t>() + matrix_a * m * k, right.data<int16_t>() + matrix_b * k * n,
                    sums.mutable_data<int32_t>());
    parallel_for(m, std::max<int64_t>(1, 16'384 / n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        store({matrix_a, matrix_b, i, row, {values + row * n, static_cast<size_t>(n)}});
    });
  }
}

double matmul_flops_of(const CostContext& context, int input_a) {
  const Dims a = context.input_dims(input_a);
  return a.empty() ? 0 : 2.0 * context.output_elements(0) * static_cast<double>(a.back());
}

void infer_matmul_integer(InferContext& context) {
  for (int i = 0; i < 4; ++i) require_byte(context, i);
  context.set_output(0, DType::i32, matmul_output_shape(context, context.shape(0), context.shape(1)));
}

void matmul_integer_kernel(KernelContext& context) {
  Tensor& dst = context.output(0);
  int32_t* out = dst.mutable_data<int32_t>();
  const Tensor* a_zero = context.has_input(2) ? &context.input(2) : nullptr;
  const Tensor* b_zero = context.has_input(3) ? &context.input(3) : nullptr;
  const Tensor& a = context.input(0);
  const int64_t m = a.rank() < 2 ? 1 : a.dim(a.rank() - 2);
  integer_matmul(context, a, a_zero, context.input(1), b_zero, [&](const ProductRow& row) {
    const auto n = static_cast<int64_t>(row.sums.size());
    std::copy(row.sums.begin(), row.sums.end(), out + (row.matrix * m + row.row) * n);
  });
}

void infer_qlinear_matmul(InferContext& context) {
  for (const int i : {0, 2, 3, 5, 7}) require_byte(context, i);
  for (const int i : {1, 4, 6}) require_plain_float(context, i);
  context.set_output(0, context.dtype(7), matmul_output_shape(context, context.shape(0), context.shape(3)));
}

namespace {

/// Scales in the 16-bit formats are multiplied and divided in their own precision.
float in_precision_of(DType dtype, float value) {
  if (dtype == DType::f16) return static_cast<float>(Half(value));
  if (dtype == DType::bf16) return static_cast<float>(BFloat16(value));
  return value;
}

}  // namespace

void qlinear_matmul_kernel(KernelContext& context) {
  const Tensor &a = context.input(0), &b = context.input(3);
  Tensor& dst = context.output(0);
  const DType precision = context.input(1).dtype();
  const Tensor a_scale = convert(context.input(1), DType::f32);
  const Tensor b_scale = convert(context.input(4), DType::f32);
  const Tensor y_scale = convert(context.input(6), DType::f32);
  const Tensor y_zero = convert(context.input(7), DType::f32);
  const auto a_lines = line_parameters(context, a.dims(), a_scale.dims(), Lines::rows);
  const auto b_lines = line_parameters(context, b.dims(), b_scale.dims(), Lines::columns);
  const auto y_lines = line_parameters(context, dst.dims(), y_scale.dims(), Lines::rows);
  const auto zero_lines = line_parameters(context, dst.dims(), y_zero.dims(), Lines::rows);
  const Requantize range = requantize_to(context.input(7).dtype(), 0.0f);
  const int64_t m = a.rank() < 2 ? 1 : a.dim(a.rank() - 2);
  uint8_t* out = dst.mutable_data<uint8_t>();
  integer_matmul(context, a, &context.input(2), b, &context.input(5), [&](const ProductRow& row) {
    Requantize to = range;
    to.zero = y_zero.data<float>()[zero_lines.index(row.matrix, row.row)];
    const float left = a_scale.data<float>()[a_lines.index(row.matrix_a, row.row)];
    const float result = y_scale.data<float>()[y_lines.index(row.matrix, row.row)];
    uint8_t* line = out + (row.matrix * m + row.row) * static_cast<int64_t>(row.sums.size());
    for (size_t j = 0; j < row.sums.size(); ++j) {
      const float right = b_scale.data<float>()[b_lines.index(row.matrix_b, static_cast<int64_t>(j))];
      const float scale = in_precision_of(precision, in_precision_of(precision, left * right) / result);
      line[j] = quantized_byte(static_cast<float>(row.sums[j]) * scale, to);
    }
  });
}

}  // namespace attune
