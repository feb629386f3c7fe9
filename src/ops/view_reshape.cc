#include "ops/view_reshape.h"

#include "ops/infer_parts.h"

#include <algorithm>

namespace attune {
namespace {

/// Dim `open` of the target from the element counts: the dims that both sides name cancel first, so one unknown or
/// compound dim that is only passed through does not spoil the division. Unknown when it cannot be told.
Dim remaining_dim(Shape src_factors, Shape dst_factors) {
  for (Dim& factor : dst_factors) {
    if (factor.is_known()) continue;
    const auto twin = std::find(src_factors.begin(), src_factors.end(), factor);
    if (twin == src_factors.end()) continue;
    *twin = Dim(1);
    factor = Dim(1);
  }
  return element_count(src_factors).floor_div(element_count(dst_factors));
}

Shape reshaped(const OpContext& context, const std::optional<Shape>& src, const std::vector<Dim>& wanted) {
  const bool zero_is_zero = context.attr_int("allowzero", 0) != 0;
  Shape dst = wanted;
  Shape src_factors = src.value_or(Shape{}), dst_factors;
  std::optional<size_t> inferred;  // the place of the -1
  std::vector<size_t> unknown;
  bool has_zero = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].is_known()) {
      if (wanted[i].is_unknown()) unknown.push_back(i);
    } else if (wanted[i].value() < -1) {
      context.fail("dim {} of the target shape {} is negative", i, to_text(wanted));
    } else if (wanted[i].value() == -1) {
      if (inferred) context.fail("the target shape {} has more than one -1", to_text(wanted));
      inferred = i;
      dst[i] = Dim::unknown();
      continue;
    } else if (wanted[i].value() == 0 && zero_is_zero) {
      has_zero = true;
    } else if (wanted[i].value() == 0) {
      if (src && i >= src->size()) context.fail("dim {} is copied from {}, which has no such dim", i, to_text(*src));
      dst[i] = src ? (*src)[i] : Dim::unknown();
      if (src) src_factors[i] = Dim(1);  // the same factor on both sides
      continue;
    }
    dst_factors.push_back(wanted[i]);
  }
  if (inferred && has_zero) context.fail("the target shape {} has both a 0 and a -1", to_text(wanted));
  if (!src) return dst;

  if (inferred && unknown.empty()) {
    dst[*inferred] = remaining_dim(src_factors, dst_factors);
    const auto total = concrete(src_factors);
    const auto rest = concrete(dst_factors);
    if (total && rest) {
      const auto total_count = checked_count(*total), rest_count = checked_count(*rest);
      if (!total_count || !rest_count || *rest_count == 0 || *total_count % *rest_count != 0)
        context.fail("{} cannot be reshaped to {}", to_text(*src), to_text(wanted));
    }
  } else if (!inferred && unknown.size() == 1) {
    // The element counts decide the only dim that the contents leave open, be it a number, a 0 or a -1.
    std::erase_if(dst_factors, [](const Dim& dim) { return dim.is_unknown(); });
    dst[unknown.front()] = remaining_dim(src_factors, dst_factors);
  }
  const auto src_dims = concrete(*src);
  const auto dst_dims = concrete(dst);
  if (src_dims && dst_dims && checked_count(*src_dims) != checked_count(*dst_dims))
    context.fail("{} cannot be reshaped to {}", to_text(*src), to_text(wanted));
  return dst;
}

}  // namespace

void infer_reshape(InferContext& context) {
  std::optional<std::vector<Dim>> wanted = int_content(context, 1);
  if (!wanted) {
    if (const auto rank = known_length(context, 1)) wanted = unknown_dims(*rank);
  }
  std::optional<Shape> result;
  if (wanted) result = reshaped(context, context.shape(0), *wanted);
  context.set_output(0, context.dtype(0), result);
  pass_content(context, result);
}

void run_reshape(KernelContext& context) {
  const Tensor& src = context.input(0);
  const Shape shape = reshaped(context, to_shape(src.dims()), to_shape(context.ints(1)));
  context.set_output(0, src.reshaped(concrete_dims(context, shape)));
}

}  // namespace attune
