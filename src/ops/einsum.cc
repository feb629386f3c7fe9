// Einsum: operands are contracted two at a time, each contraction as a batch of matrix products.
#include "ops/dispatch.h"
#include "ops/einsum_equation.h"
#include "ops/families.h"
#include "ops/matrix_product.h"
#include "ops/strided_walk.h"
#include "ops/wide_tensor.h"

#include <algorithm>
#include <array>

namespace attune {
namespace {

using SumTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;
using Labels = std::vector<int>;
using LabelSet = std::array<bool, kLabelCount>;
using LabelSizes = std::array<int64_t, kLabelCount>;

void infer_einsum(InferContext& context) {
  const EinsumEquation equation = parse_einsum(context, context.attr_string("equation"), context.input_count());
  std::array<std::optional<Dim>, kLabelCount> sizes;
  bool all_ranks = true;
  int64_t most_ellipsis_axes = 0;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) context.fail("operand {} is missing", i);
    if (context.dtype(i) != context.dtype(0) && context.dtype(i) != DType::undefined)
      context.fail("operands have different dtypes, {} and {}", dtype_name(context.dtype(0)),
                   dtype_name(context.dtype(i)));
    const auto& shape = context.shape(i);
    if (!shape) {
      all_ranks = false;
      continue;
    }
    const EinsumTerm& term = equation.inputs[static_cast<size_t>(i)];
    const int64_t axes = ellipsis_axes(context, term, std::ssize(*shape));
    most_ellipsis_axes = std::max(most_ellipsis_axes, axes);
    const Labels labels = term_labels(term, axes);
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      auto& size = sizes[static_cast<size_t>(labels[axis])];
      const Dim& dim = (*shape)[axis];
      if (!size || (size->is_known() && size->value() == 1))
        size = dim;
      else if (dim.is_known() && dim.value() != 1) {
        if (size->is_known() && size->value() != dim.value())
          context.fail("axes of the same letter have sizes {} and {}", size->value(), dim.value());
        size = dim;
      } else if (!dim.is_known() && !size->is_known() && !(dim == *size)) {
        size = Dim::unknown();
      }
    }
  }
  if (!all_ranks && equation.output.has_ellipsis) return context.set_output(0, context.dtype(0), std::nullopt);
  Shape result;
  for (const int label : term_labels(equation.output, most_ellipsis_axes))
    result.push_back(sizes[static_cast<size_t>(label)].value_or(Dim::unknown()));
  context.set_output(0, context.dtype(0), std::move(result));
}

/// A tensor whose axes are labelled; each label at most once.
struct Operand {
  Tensor tensor;
  Labels labels;
  Dims strides;  // 0 where the tensor has one element for a larger label

  int64_t stride_of(int label) const {
    const auto found = std::find(labels.begin(), labels.end(), label);
    return found == labels.end() ? 0 : strides[static_cast<size_t>(found - labels.begin())];
  }
};

/// Repeated letters walk the diagonal: one axis with the sum of their strides.
Operand label_operand(const OpContext& context, Tensor tensor, const Labels& labels, const LabelSizes& sizes) {
  Operand operand;
  const Dims strides = row_major_strides(tensor.dims());
  Dims dims;
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    const int64_t dim = tensor.dim(static_cast<int64_t>(axis));
    const int64_t stride = dim == 1 && sizes[static_cast<size_t>(labels[axis])] != 1 ? 0 : strides[axis];
    const auto found = std::find(operand.labels.begin(), operand.labels.end(), labels[axis]);
    if (found == operand.labels.end()) {
      operand.labels.push_back(labels[axis]);
      operand.strides.push_back(stride);
      dims.push_back(dim);
      continue;
    }
    const auto at = static_cast<size_t>(found - operand.labels.begin());
    if (dims[at] != dim) context.fail("a repeated letter has axes of sizes {} and {}", dims[at], dim);
    operand.strides[at] += stride;
  }
  operand.tensor = std::move(tensor);
  return operand;
}

Dims sizes_of(const Labels& labels, const LabelSizes& sizes) {
  Dims dims;
  for (const int label : labels) dims.push_back(sizes[static_cast<size_t>(label)]);
  return dims;
}

Dims strides_of(const Operand& operand, const Labels& labels) {
  Dims strides;
  for (const int label : labels) strides.push_back(operand.stride_of(label));
  return strides;
}

/// The operand as a dense tensor over `order`; the labels that `order` lacks are summed away.
template <class T> Operand rearranged(const Operand& operand, const Labels& order, const LabelSizes& sizes) {
  Labels summed;
  for (const int label : operand.labels)
    if (std::find(order.begin(), order.end(), label) == order.end()) summed.push_back(label);
  const Dims dims = sizes_of(order, sizes), summed_dims = sizes_of(summed, sizes);
  Operand result{Tensor::allocate(dtype_of<T>(), dims), order, row_major_strides(dims)};
  T* dst = result.tensor.mutable_data<T>();
  const int64_t terms = checked_count(summed_dims).value_or(0);
  const T* src = operand.tensor.data<T>();
  const Dims strides = strides_of(operand, order), summed_strides = strides_of(operand, summed);
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
  parallel_for(result.tensor.count(), std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, terms)),
               [&](int64_t begin, int64_t end) {
                 StridedWalk<1> walk(dims, {strides});
                 StridedWalk<1> inner(summed_dims, {summed_strides});
                 walk.seek(begin);
                 for (int64_t i = begin; i < end; ++i, walk.next()) {
                   const T* from = src + walk.offset(0);
                   if (summed.empty()) {
                     dst[i] = *from;
                     continue;
                   }
                   Sum sum = 0;
                   for (int64_t term = 0; term < terms; ++term, inner.next())
                     sum += static_cast<Sum>(from[inner.offset(0)]);
                   dst[i] = static_cast<T>(sum);
                 }
               });
  return result;
}

/// The stride of several axes walked as one, when they lie that way.
std::optional<int64_t> joint_stride(const Operand& operand, const Labels& labels, const LabelSizes& sizes) {
  int64_t expected = -1, innermost = 0;
  for (size_t i = labels.size(); i-- > 0;) {
    const int64_t size = sizes[static_cast<size_t>(labels[i])], stride = operand.stride_of(labels[i]);
    if (size == 1) continue;
    if (expected < 0)
      innermost = stride;
    else if (stride != expected)
      return std::nullopt;
    expected = stride * size;
  }
  return innermost;
}

/// How the labels of two operands take part in their contraction.
struct Contraction {
  Labels batch;       // in both, kept
  Labels rows;        // left only, kept
  Labels columns;     // right only, kept
  Labels contracted;  // in both, summed
};

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels joined(std::initializer_list<const Labels*> parts) {
  Labels result;
  for (const Labels* part : parts) result.insert(result.end(), part->begin(), part->end());
  return result;
}

Contraction classify(const Operand& left, const Operand& right, const LabelSet& kept) {
  Contraction result;
  for (const int label : left.labels) {
    const bool keep = kept[static_cast<size_t>(label)];
    if (contains(right.labels, label))
      (keep ? result.batch : result.contracted).push_back(label);
    else if (keep)
      result.rows.push_back(label);
  }
  for (const int label : right.labels)
    if (!contains(left.labels, label) && kept[static_cast<size_t>(label)]) result.columns.push_back(label);
  return result;
}

/// The operand itself where its two groups of axes walk like a matrix and nothing is to be summed, else a dense copy.
template <class T> Operand as_matrices(const Operand& operand, const Labels& batch, const Labels& rows,
                                       const Labels& columns, const LabelSizes& sizes) {
  const Labels order = joined({&batch, &rows, &columns});
  const bool fits = order.size() == operand.labels.size() && joint_stride(operand, rows, sizes) &&
                    joint_stride(operand, columns, sizes);
  return fits ? operand : rearranged<T>(operand, order, sizes);
}

template <class T>
Operand contract(const Operand& left, const Operand& right, const LabelSet& kept, const LabelSizes& sizes) {
  const Contraction labels = classify(left, right, kept);
  const Operand a = as_matrices<T>(left, labels.batch, labels.rows, labels.contracted, sizes);
  const Operand b = as_matrices<T>(right, labels.batch, labels.contracted, labels.columns, sizes);
  const Labels order = joined({&labels.batch, &labels.rows, &labels.columns});
  const Dims dims = sizes_of(order, sizes), batch_dims = sizes_of(labels.batch, sizes);
  Operand result{Tensor::allocate(dtype_of<T>(), dims), order, row_major_strides(dims)};
  if (result.tensor.count() == 0) return result;
  const int64_t m = element_count(sizes_of(labels.rows, sizes)), n = element_count(sizes_of(labels.columns, sizes));
  const int64_t k = checked_count(sizes_of(labels.contracted, sizes)).value_or(0);
  const MatrixView<T> left_view{a.tensor.data<T>(), *joint_stride(a, labels.rows, sizes),
                                *joint_stride(a, labels.contracted, sizes)};
  const MatrixView<T> right_view{b.tensor.data<T>(), *joint_stride(b, labels.contracted, sizes),
                                 *joint_stride(b, labels.columns, sizes)};
  const Dims strides_a = strides_of(a, labels.batch), strides_b = strides_of(b, labels.batch);
  T* dst = result.tensor.mutable_data<T>();
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for_each_product(element_count(batch_dims), work, [&](int64_t begin, int64_t end) {
    StridedWalk<2> walk(batch_dims, {strides_a, strides_b});
    walk.seek(begin);
    for (int64_t i = begin; i < end; ++i, walk.next())
      matrix_product<T>(m, n, k, {left_view.data + walk.offset(0), left_view.row_stride, left_view.column_stride},
                        {right_view.data + walk.offset(1), right_view.row_stride, right_view.column_stride},
                        dst + i * m * n, n);
  });
  return result;
}

template <class T> Tensor evaluate(std::vector<Operand> operands, const Labels& output, const LabelSizes& sizes) {
  Operand result = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    LabelSet kept{};
    for (const int label : output) kept[static_cast<size_t>(label)] = true;
    for (size_t later = i + 1; later < operands.size(); ++later)
      for (const int label : operands[later].labels) kept[static_cast<size_t>(label)] = true;
    result = contract<T>(result, operands[i], kept, sizes);
  }
  if (operands.size() > 1 && result.labels == output) return result.tensor;
  return rearranged<T>(result, output, sizes).tensor;
}

void run_einsum(KernelContext& context) {
  const EinsumEquation equation = parse_einsum(context, context.attr_string("equation"), context.input_count());
  LabelSizes sizes;
  sizes.fill(1);
  int64_t most_ellipsis_axes = 0;
  std::vector<Labels> labels;
  std::vector<Tensor> tensors;
  for (int i = 0; i < context.input_count(); ++i) {
    const EinsumTerm& term = equation.inputs[static_cast<size_t>(i)];
    tensors.push_back(widened(context.input(i)));
    const int64_t axes = ellipsis_axes(context, term, tensors.back().rank());
    most_ellipsis_axes = std::max(most_ellipsis_axes, axes);
    labels.push_back(term_labels(term, axes));
    for (size_t axis = 0; axis < labels.back().size(); ++axis) {
      int64_t& size = sizes[static_cast<size_t>(labels.back()[axis])];
      if (size == 1) size = tensors.back().dim(static_cast<int64_t>(axis));
    }
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < tensors.size(); ++i) operands.push_back(label_operand(context, tensors[i], labels[i], sizes));
  Tensor& output = context.output(0);
  dispatch<SumTypes>(tensors[0].dtype(), context, [&]<class T>() {
    Tensor result = evaluate<T>(std::move(operands), term_labels(equation.output, most_ellipsis_axes), sizes);
    if (output.dtype() == result.dtype())
      context.set_output(0, std::move(result));
    else
      narrow(result, output);
  });
}

/// Two operations for each point of the space that all letters span: exact for two operands.
double einsum_flops(const CostContext& context) {
  const EinsumEquation equation = parse_einsum(context, context.attr_string("equation"), context.input_count());
  std::array<double, kLabelCount> sizes;
  sizes.fill(1);
  for (int i = 0; i < context.input_count(); ++i) {
    const Dims dims = context.input_dims(i);
    const EinsumTerm& term = equation.inputs[static_cast<size_t>(i)];
    const Labels labels = term_labels(term, ellipsis_axes(context, term, std::ssize(dims)));
    for (size_t axis = 0; axis < labels.size(); ++axis) {
      double& size = sizes[static_cast<size_t>(labels[axis])];
      size = std::max(size, static_cast<double>(dims[axis]));
    }
  }
  double points = context.input_count() > 1 ? 2 : 1;
  for (const double size : sizes) points *= size;
  return points;
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "Einsum",
     .since = 12,
     .inputs = {1, kVariadic},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_einsum,
     .kernel = run_einsum,
     .flops = einsum_flops},
};

}  // namespace

std::span<const OpDef> einsum_ops() { return kOps; }

}  // namespace attune
