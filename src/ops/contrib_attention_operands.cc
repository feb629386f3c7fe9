// Masks, caches and scales that the attention operators of com.microsoft share.
#include "ops/broadcast.h"
#include "ops/contrib_transformer.h"
#include "ops/strided_walk.h"
#include "ops/widen.h"

#include <cmath>

namespace attune::contrib {

using attention::HeadsView;
using attention::Sizes;

Dim dim_of(const InferContext& context, int i, size_t rank, size_t axis, std::string_view what) {
  const auto& shape = context.shape(i);
  if (!shape) return Dim::unknown();
  if (shape->size() != rank) context.fail("{} has rank {}, expected {}", what, shape->size(), rank);
  return (*shape)[axis];
}

double scale_of(const OpContext& context, int64_t head_size) {
  const float stated = context.attr_float("scale", 0);
  return stated != 0 ? static_cast<double>(stated) : 1 / std::sqrt(static_cast<double>(head_size));
}

namespace {

/// The padding mask as numbers to add, [batch, 1, 1 or queries, keys].
template <class C> Tensor mask_bias(const KernelContext& context, int slot, const Sizes& sizes) {
  const Tensor& mask = context.input(slot);
  const std::vector<int64_t> values = context.ints(slot);
  const auto filter = static_cast<C>(context.attr_float("mask_filter_value", -10000.0f));
  const auto batch = static_cast<size_t>(sizes.batch), keys = static_cast<size_t>(sizes.kv_len);
  if (mask.rank() == 1 && (values.size() == batch || values.size() == 2 * batch)) {
    Tensor result = Tensor::zeros(dtype_of<C>(), {sizes.batch, 1, 1, sizes.kv_len});
    C* dst = result.mutable_data<C>();
    for (size_t b = 0; b < batch; ++b)
      for (size_t j = 0; j < keys; ++j) {
        const auto key = static_cast<int64_t>(j);
        const bool before = values.size() == 2 * batch && key < values[batch + b];
        if (key >= values[b] || before) dst[b * keys + j] = filter;
      }
    return result;
  }
  Dims dims = {sizes.batch, 1, 1, sizes.kv_len};
  if (mask.rank() == 3) dims[2] = sizes.q_len;
  const bool fits = mask.rank() == 2 ? mask.dims() == Dims{sizes.batch, sizes.kv_len}
                                     : mask.dims() == Dims{sizes.batch, sizes.q_len, sizes.kv_len};
  if (!fits)
    context.unsupported("a padding mask of {} for {} batches, {} queries and {} keys", to_text(mask.dims()),
                        sizes.batch, sizes.q_len, sizes.kv_len);
  Tensor result = Tensor::allocate(dtype_of<C>(), dims);
  C* dst = result.mutable_data<C>();
  for (size_t i = 0; i < values.size(); ++i) dst[i] = values[i] > 0 ? C(0) : filter;
  return result;
}

template <class C> Tensor sum_broadcast(const Tensor& a, const Tensor& b, const OpContext& context) {
  const Dims dims = broadcast_dims(a.dims(), b.dims(), context);
  Tensor result = Tensor::allocate(dtype_of<C>(), dims);
  if (result.count() == 0) return result;
  C* dst = result.mutable_data<C>();
  StridedWalk<2> walk(dims, {broadcast_strides(a.dims(), dims), broadcast_strides(b.dims(), dims)});
  for (int64_t i = 0; i < result.count(); ++i, walk.next())
    dst[i] = a.data<C>()[walk.offset(0)] + b.data<C>()[walk.offset(1)];
  return result;
}

}  // namespace

template <class C>
Tensor combined_bias(const KernelContext& context, int mask_slot, int bias_slot, const Sizes& sizes) {
  Tensor mask, bias;
  if (mask_slot >= 0 && context.has_input(mask_slot)) mask = mask_bias<C>(context, mask_slot, sizes);
  if (context.has_input(bias_slot)) {
    bias = widened<C>(context.input(bias_slot), context);
    const Dims full = {sizes.batch, sizes.q_heads, sizes.q_len, sizes.kv_len};
    bool fits = bias.rank() == 4 && bias.dim(2) == full[2] && bias.dim(3) == full[3];
    for (int64_t i = 0; fits && i < 2; ++i) fits = bias.dim(i) == 1 || bias.dim(i) == full[static_cast<size_t>(i)];
    if (!fits) context.fail("attention_bias {} does not fit {}", to_text(bias.dims()), to_text(full));
  }
  if (mask.empty()) return bias;
  if (bias.empty()) return mask;
  return sum_broadcast<C>(mask, bias, context);
}

template <class C> Tensor joined(const Tensor& past, const HeadsView<const C>& current, int64_t batch, int64_t heads,
                                 int64_t rows, int64_t size) {
  const int64_t past_rows = past.empty() ? 0 : past.dim(2);
  Tensor result = Tensor::allocate(dtype_of<C>(), {batch, heads, past_rows + rows, size});
  HeadsView<C> to = attention::heads_first(result.mutable_data<C>(), heads, past_rows + rows, size);
  if (past_rows > 0)
    attention::copy_heads(attention::heads_first(past.data<C>(), heads, past_rows, size), to, batch, heads, past_rows,
                          size);
  to.data += past_rows * size;
  attention::copy_heads(current, to, batch, heads, rows, size);
  return result;
}

template Tensor combined_bias<float>(const KernelContext&, int, int, const Sizes&);
template Tensor combined_bias<double>(const KernelContext&, int, int, const Sizes&);
template Tensor joined<float>(const Tensor&, const HeadsView<const float>&, int64_t, int64_t, int64_t, int64_t);
template Tensor joined<double>(const Tensor&, const HeadsView<const double>&, int64_t, int64_t, int64_t, int64_t);

}  // namespace attune::contrib
