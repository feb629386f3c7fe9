// MatMul and Gemm.
#include "ops/broadcast.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/matrix_product.h"
#include "ops/strided_walk.h"
#include "ops/wide_tensor.h"

namespace attune {
namespace {

using ProductTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;

void check_same_dtype(const InferContext& context) {
  for (int i = 1; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    const DType first = context.dtype(0), other = context.dtype(i);
    if (first != DType::undefined && other != DType::undefined && first != other)
      context.fail("inputs 0 and {} have different dtypes, {} and {}", i, dtype_name(first), dtype_name(other));
  }
}

void check_inner(const OpContext& context, const Dim& left, const Dim& right) {
  if (left.is_known() && right.is_known() && left.value() != right.value())
    context.fail("inner dims do not match: {} and {}", left.value(), right.value());
}

void infer_matmul(InferContext& context) {
  check_same_dtype(context);
  const auto &a = context.shape(0), &b = context.shape(1);
  if ((a && a->empty()) || (b && b->empty())) context.fail("a scalar cannot be multiplied as a matrix");
  if (!a || !b) return context.set_output(0, context.dtype(0), std::nullopt);
  check_inner(context, a->back(), b->size() == 1 ? (*b)[0] : (*b)[b->size() - 2]);
  // A vector has no batch, and its matrix dim is left out of the result.
  const Shape batch_a(a->begin(), a->end() - std::min<std::ptrdiff_t>(2, std::ssize(*a)));
  const Shape batch_b(b->begin(), b->end() - std::min<std::ptrdiff_t>(2, std::ssize(*b)));
  Shape result = broadcast_shapes(batch_a, batch_b, context);
  if (a->size() > 1) result.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) result.push_back(b->back());
  context.set_output(0, context.dtype(0), std::move(result));
}

struct MatMulPlan {
  int64_t m = 1, n = 1, k = 1;
  Dims batch;  // broadcast
  Dims batch_a, batch_b;
};

MatMulPlan plan_matmul(const OpContext& context, const Dims& a, const Dims& b) {
  MatMulPlan plan;
  plan.k = a.back();
  if (a.size() > 1) {
    plan.m = a[a.size() - 2];
    plan.batch_a.assign(a.begin(), a.end() - 2);
  }
  if (b.size() > 1) {
    plan.n = b.back();
    plan.batch_b.assign(b.begin(), b.end() - 2);
  }
  plan.batch = broadcast_dims(plan.batch_a, plan.batch_b, context);
  return plan;
}

template <class T> void multiply_batches(const MatMulPlan& plan, const T* a, const T* b, T* dst) {
  const int64_t m = plan.m, n = plan.n, k = plan.k;
  const int64_t batches = element_count(plan.batch);
  if (element_count(plan.batch_b) == 1 && batches == element_count(plan.batch_a)) {
    matrix_product<T>(batches * m, n, k, {a, k, 1}, {b, n, 1}, dst, n);  // one matrix b: the rows of a are one matrix
    return;
  }
  const Dims strides_a = broadcast_strides(plan.batch_a, plan.batch);
  const Dims strides_b = broadcast_strides(plan.batch_b, plan.batch);
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for_each_product(batches, work, [&](int64_t begin, int64_t end) {
    StridedWalk<2> walk(plan.batch, {strides_a, strides_b});
    walk.seek(begin);
    for (int64_t i = begin; i < end; ++i, walk.next())
      matrix_product<T>(m, n, k, {a + walk.offset(0) * m * k, k, 1}, {b + walk.offset(1) * k * n, n, 1},
                        dst + i * m * n, n);
  });
}

void run_matmul(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor a = widened(context.input(0)), b = widened(context.input(1));
  Tensor dst = wide_output(output);
  const MatMulPlan plan = plan_matmul(context, a.dims(), b.dims());
  dispatch<ProductTypes>(dst.dtype(), context, [&]<class T>() {
    multiply_batches<T>(plan, a.data<T>(), b.data<T>(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double matmul_flops(const CostContext& context) {
  const Dims a = context.input_dims(0);
  return a.empty() ? 0 : 2.0 * context.output_elements(0) * static_cast<double>(a.back());
}

void infer_gemm(InferContext& context) {
  check_same_dtype(context);
  const bool trans_a = context.attr_int("transA", 0) != 0, trans_b = context.attr_int("transB", 0) != 0;
  const auto &a = context.shape(0), &b = context.shape(1);
  for (int i = 0; i < 2; ++i)
    if (context.shape(i) && context.shape(i)->size() != 2)
      context.fail("input {} has rank {}, expected a matrix", i, context.shape(i)->size());
  if (a && b) check_inner(context, (*a)[trans_a ? 0 : 1], (*b)[trans_b ? 1 : 0]);
  Shape result(2);
  if (a) result[0] = (*a)[trans_a ? 1 : 0];
  if (b) result[1] = (*b)[trans_b ? 0 : 1];
  if (context.has_input(2) && context.shape(2)) {
    const Shape& c = *context.shape(2);
    if (c.size() > 2) context.fail("input 2 has rank {}, expected at most 2", c.size());
    for (size_t i = 0; i < c.size(); ++i) {
      const Dim &own = c[c.size() - 1 - i], &target = result[1 - i];
      if (own.is_known() && target.is_known() && own.value() != 1 && own.value() != target.value())
        context.fail("input 2 ({}) does not broadcast to {}", to_text(c), to_text(result));
    }
  }
  context.set_output(0, context.dtype(0), std::move(result));
}

template <class T> T to_element(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return to_integer<T>(value);
}

template <class T> T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// dst = alpha * dst + beta * c, c broadcast to m x n; c may be nullptr.
template <class T>
void scale_and_add(int64_t m, int64_t n, double alpha, double beta, const T* c, const Dims& c_strides, T* dst) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, n));
  parallel_for(m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = dst + i * n;
      if (alpha != 1.0)
        for (int64_t j = 0; j < n; ++j) row[j] = to_element<T>(alpha * static_cast<double>(row[j]));
      if (c == nullptr) continue;
      const T* add = c + i * c_strides[0];
      if (beta == 1.0)
        for (int64_t j = 0; j < n; ++j) row[j] = wrapping_add(row[j], add[j * c_strides[1]]);
      else
        for (int64_t j = 0; j < n; ++j)
          row[j] = to_element<T>(static_cast<double>(row[j]) + beta * static_cast<double>(add[j * c_strides[1]]));
    }
  });
}

void run_gemm(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor a = widened(context.input(0)), b = widened(context.input(1));
  const auto alpha = static_cast<double>(context.attr_float("alpha", 1.0f));
  const auto beta = static_cast<double>(context.attr_float("beta", 1.0f));
  const Tensor c = context.has_input(2) && beta != 0 ? widened(context.input(2)) : Tensor();
  const bool trans_a = context.attr_int("transA", 0) != 0, trans_b = context.attr_int("transB", 0) != 0;
  Tensor dst = wide_output(output);
  const int64_t m = dst.dim(0), n = dst.dim(1), k = a.dim(trans_a ? 0 : 1);
  const Dims c_strides = c.empty() ? Dims{0, 0} : broadcast_strides(c.dims(), dst.dims());
  dispatch<ProductTypes>(dst.dtype(), context, [&]<class T>() {
    const MatrixView<T> left{a.data<T>(), trans_a ? 1 : k, trans_a ? m : 1};
    const MatrixView<T> right{b.data<T>(), trans_b ? 1 : n, trans_b ? k : 1};
    T* out = dst.mutable_data<T>();
    matrix_product<T>(m, n, k, left, right, out, n);
    const T* add = c.empty() ? nullptr : c.data<T>();
    if (add != nullptr || alpha != 1.0) scale_and_add<T>(m, n, alpha, beta, add, c_strides, out);
  });
  narrow(dst, output);
}

double gemm_flops(const CostContext& context) {
  const Dims a = context.input_dims(0);
  if (a.size() != 2) return 0;
  const int64_t k = a[context.attr_int("transA", 0) != 0 ? 0 : 1];
  return 2.0 * context.output_elements(0) * static_cast<double>(k);
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "MatMul",
     .since = 1,
     .inputs = {2, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_matmul,
     .kernel = run_matmul,
     .flops = matmul_flops},
    {.domain = "",
     .name = "Gemm",
     .since = 1,
     .inputs = {2, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_gemm,
     .kernel = run_gemm,
     .flops = gemm_flops},
};

}  // namespace

std::span<const OpDef> matmul_ops() { return kOps; }

}  // namespace attune
