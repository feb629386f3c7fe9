// FusedMatMul: a batched product of operands that are read transposed, scaled.
#include "ops/broadcast.h"
#include "ops/contrib_math.h"
#include "ops/gemm.h"
#include "ops/strided_walk.h"
#include "ops/widen.h"

namespace attune::contrib {
namespace {

/// The order in which the axes of an operand are read. transBatch moves the first axis behind the batch axes, trans
/// swaps the last two; a vector has nothing to swap.
std::vector<size_t> axis_order(const OpContext& context, size_t rank, char side) {
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  if (rank < 2) return order;
  if (context.attr_int(std::string("transBatch") + side, 0) != 0) {
    for (size_t i = 0; i + 2 < rank; ++i) order[i] = i + 1;
    order[rank - 2] = 0;
  }
  if (context.attr_int(std::string("trans") + side, 0) != 0) std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

Shape reordered(const Shape& shape, const std::vector<size_t>& order) {
  Shape result;
  for (const size_t axis : order) result.push_back(shape[axis]);
  return result;
}

/// An operand as a batch of matrices; a vector becomes one row (left) or one column (right).
struct Operand {
  Dims batch_dims, batch_strides;
  int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
};

Operand operand_of(const OpContext& context, const Tensor& tensor, char side) {
  const Dims strides = row_major_strides(tensor.dims());
  Operand operand;
  if (tensor.rank() == 1) {
    (side == 'A' ? operand.columns : operand.rows) = tensor.dim(0);
    (side == 'A' ? operand.column_stride : operand.row_stride) = 1;
    return operand;
  }
  const std::vector<size_t> order = axis_order(context, tensor.dims().size(), side);
  for (size_t i = 0; i + 2 < order.size(); ++i) {
    operand.batch_dims.push_back(tensor.dims()[order[i]]);
    operand.batch_strides.push_back(strides[order[i]]);
  }
  const size_t row = order[order.size() - 2], column = order.back();
  operand.rows = tensor.dims()[row], operand.row_stride = strides[row];
  operand.columns = tensor.dims()[column], operand.column_stride = strides[column];
  return operand;
}

Dims strides_over(const Operand& operand, const Dims& batch) {
  Dims strides(batch.size(), 0);
  const size_t offset = batch.size() - operand.batch_dims.size();
  for (size_t i = 0; i < operand.batch_dims.size(); ++i)
    if (operand.batch_dims[i] != 1) strides[offset + i] = operand.batch_strides[i];
  return strides;
}

}  // namespace

void infer_fused_matmul(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (!context.shape(0) || !context.shape(1)) return context.set_output(0, dtype, std::nullopt);
  if (context.shape(0)->empty() || context.shape(1)->empty()) context.fail("a scalar has no matrix product");
  Shape a = reordered(*context.shape(0), axis_order(context, context.shape(0)->size(), 'A'));
  Shape b = reordered(*context.shape(1), axis_order(context, context.shape(1)->size(), 'B'));
  const bool a_vector = a.size() == 1, b_vector = b.size() == 1;
  if (a_vector) a.insert(a.begin(), 1);
  if (b_vector) b.emplace_back(1);
  const Dim left = a.back(), right = b[b.size() - 2];
  if (left.is_known() && right.is_known() && left.value() != right.value())
    context.fail("{} and {} do not multiply: inner dims {} and {}", to_text(context.shape(0)),
                 to_text(context.shape(1)), left.value(), right.value());
  Shape result = broadcast_shapes(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), context);
  if (!a_vector) result.push_back(a[a.size() - 2]);
  if (!b_vector) result.push_back(b.back());
  context.set_output(0, dtype, std::move(result));
}

void run_fused_matmul(KernelContext& context) {
  Tensor& dst = context.output(0);
  dispatch_compute(dst.dtype(), context, [&]<class C>() {
    const Tensor a = widened<C>(context.input(0), context), b = widened<C>(context.input(1), context);
    const Operand left = operand_of(context, a, 'A'), right = operand_of(context, b, 'B');
    const Dims batch = broadcast_dims(left.batch_dims, right.batch_dims, context);
    const int64_t size = left.rows * right.columns;
    RoundedOutput<C> place(dst);
    C* out = place.data();
    StridedWalk<2> walk(batch, {strides_over(left, batch), strides_over(right, batch)});
    const int64_t products = size == 0 ? 0 : dst.count() / size;
    for (int64_t i = 0; i < products; ++i, walk.next())
      gemm(left.rows, right.columns, left.columns,
           MatrixView<C>{a.data<C>() + walk.offset(0), left.row_stride, left.column_stride},
           MatrixView<C>{b.data<C>() + walk.offset(1), right.row_stride, right.column_stride}, out + i * size,
           right.columns);
    if (const float alpha = context.attr_float("alpha", 1); alpha != 1)
      for (int64_t i = 0; i < dst.count(); ++i) out[i] *= static_cast<C>(alpha);
    place.store();
  });
  apply_fused_activation(context, dst);
}

double fused_matmul_flops(const CostContext& context) {
  const Dims a = context.input_dims(0);
  if (a.empty()) return 0;
  const bool transposed = context.attr_int("transA", 0) != 0 && a.size() > 1;
  const bool batch = context.attr_int("transBatchA", 0) != 0 && a.size() > 1;
  const int64_t inner = !transposed ? a.back() : batch ? a.front() : a[a.size() - 2];
  return 2 * context.output_elements(0) * static_cast<double>(inner);
}

}  // namespace attune::contrib
