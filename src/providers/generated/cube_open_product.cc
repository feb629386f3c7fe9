// Products of two operands that may both change from run to run, of any rank, batch and transposition: MatMul,
// attune::FusedMatMul, com.microsoft::FusedMatMul and Gemm.
#include "ops/node_traits.h"
#include "providers/generated/cube_product.h"

#include <algorithm>

namespace attune::generated {
namespace {

enum class Side { left, right };

/// An operand as a batch of matrices; a vector is one row on the left and one column on the right.
struct Matrices {
  Dims batch, batch_strides;
  int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
};

bool is_contrib(const Workload& workload) { return workload.domain == "com.microsoft" && workload.op == "FusedMatMul"; }
bool is_gemm(const Workload& workload) { return workload.domain.empty() && workload.op == "Gemm"; }

Matrices matrices_of(const Workload& workload, Side side) {
  const char letter = side == Side::left ? 'A' : 'B';
  const Dims& dims = workload.input(side == Side::left ? 0 : 1).dims;
  Matrices result;
  if (dims.size() == 1) {
    (side == Side::left ? result.columns : result.rows) = dims[0];
    (side == Side::left ? result.column_stride : result.row_stride) = 1;
    return result;
  }
  const bool named = is_contrib(workload) || is_gemm(workload);
  const auto is_set = [&](const char* name) {
    return named && attribute_or<int64_t>(workload.attributes, std::string(name) + letter, 0) != 0;
  };
  // The axes in the order in which they are read: a batch that stands behind the rows comes forward.
  std::vector<size_t> order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (is_contrib(workload) && is_set("transBatch")) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (is_set("trans")) std::swap(order[order.size() - 2], order.back());
  Dims strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * dims[i + 1];
  for (size_t i = 0; i + 2 < order.size(); ++i) {
    result.batch.push_back(dims[order[i]]);
    result.batch_strides.push_back(strides[order[i]]);
  }
  const size_t row = order[order.size() - 2], column = order.back();
  result.rows = dims[row], result.row_stride = strides[row];
  result.columns = dims[column], result.column_stride = strides[column];
  return result;
}

/// Both batches as one list of axes, where neighbours that lie alike are one, and without those that only lengthen the
/// left operand.
std::vector<cube::BatchAxis> joined_batch(const Matrices& a, const Matrices& b) {
  const size_t rank = std::max(a.batch.size(), b.batch.size());
  std::vector<cube::BatchAxis> axes;
  for (size_t i = 0; i < rank; ++i) {
    const auto part = [&](const Matrices& of) -> std::pair<int64_t, int64_t> {
      const size_t skipped = rank - of.batch.size();
      if (i < skipped || of.batch[i - skipped] == 1) return {1, 0};
      return {of.batch[i - skipped], of.batch_strides[i - skipped]};
    };
    const auto [a_count, a_stride] = part(a);
    const auto [b_count, b_stride] = part(b);
    const int64_t count = std::max(a_count, b_count);
    if (count == 1) continue;
    if (!axes.empty() && axes.back().src_stride == a_stride * count && axes.back().weights_stride == b_stride * count)
      axes.back() = {axes.back().count * count, a_stride, b_stride};
    else
      axes.push_back({count, a_stride, b_stride});
  }
  return axes;
}

}  // namespace

bool is_open_product(const Workload& workload) {
  return is_matmul(workload) || is_contrib(workload) || is_gemm(workload);
}

std::variant<ProductProblem, Refusal> open_product_problem(const Workload& workload) {
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs)
      if (spec && spec->layout != Layout::plain)
        return refuse("a matrix product takes plain operands, got {}", to_text(*spec));
  if (workload.input(0).dims.empty() || workload.input(1).dims.empty()) return refuse("a matrix product of scalars");
  const bool vector = workload.input(0).dims.size() == 1 || workload.input(1).dims.size() == 1;
  if (vector && workload.inputs.size() > 2) return refuse("a fused product with a vector");
  if (is_contrib(workload) && workload.attributes.contains("activation")) return refuse("an activation by attribute");
  if (is_gemm(workload) && workload.has_input(2) && attribute_or<float>(workload.attributes, "beta", 1) != 1)
    return refuse("a Gemm that scales what it adds");
  const Matrices a = matrices_of(workload, Side::left), b = matrices_of(workload, Side::right);
  ProductProblem problem;
  cube::ProductShape& shape = problem.shape;
  shape.rows = a.rows;
  shape.columns = b.columns;
  shape.depth = a.columns;
  shape.src_stride = a.row_stride;
  shape.src_step = a.column_stride;
  shape.dst_stride = b.columns;
  shape.open = cube::OpenWeights{b.row_stride, b.column_stride};
  shape.batch = joined_batch(a, b);
  // Weights that all of an axis share: its products are one with more rows.
  while (!shape.batch.empty() && shape.batch.back().weights_stride == 0 &&
         shape.batch.back().src_stride == shape.rows * shape.src_stride) {
    shape.rows *= shape.batch.back().count;
    shape.batch.pop_back();
  }
  for (const cube::BatchAxis& axis : shape.batch) shape.groups *= axis.count;
  if (shape.src_stride == 0) shape.src_stride = shape.depth;  // one row: 0 would mean a table
  if (is_contrib(workload) || is_gemm(workload))
    problem.epilogue.scale = attribute_or<float>(workload.attributes, "alpha", 1);
  return problem;
}

}  // namespace attune::generated
