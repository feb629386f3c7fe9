#include "ops/broadcast.h"

#include <algorithm>

namespace attune {
namespace {

Dim broadcast_dim(const Dim& a, const Dim& b, const OpContext& context) {
  if (a.is_known() && a.value() == 1) return b;
  if (b.is_known() && b.value() == 1) return a;
  if (a.is_known() && b.is_known()) {
    if (a.value() != b.value()) context.fail("dims {} and {} do not broadcast", a.value(), b.value());
    return a;
  }
  // A number above 1 decides; what stands beside it can only be the same number or 1.
  if (a.is_known()) return a;
  if (b.is_known()) return b;
  return a == b ? a : Dim::unknown();
}

}  // namespace

Shape broadcast_shapes(const Shape& a, const Shape& b, const OpContext& context) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i)
    result[offset + i] = broadcast_dim(longer[offset + i], shorter[i], context);
  return result;
}

std::optional<Shape> broadcast_shapes(const std::optional<Shape>& a, const std::optional<Shape>& b,
                                      const OpContext& context) {
  if (!a || !b) return std::nullopt;
  return broadcast_shapes(*a, *b, context);
}

std::optional<Shape> broadcast_inputs(const InferContext& context, int first, int last) {
  std::optional<Shape> result = context.shape(first);
  for (int i = first + 1; i < last; ++i) result = broadcast_shapes(result, context.shape(i), context);
  return result;
}

Dims broadcast_dims(std::span<const int64_t> a, std::span<const int64_t> b, const OpContext& context) {
  Dims result(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      context.fail("shapes {} and {} do not broadcast", to_text(a), to_text(b));
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

Dims broadcast_strides(std::span<const int64_t> dims, std::span<const int64_t> target) {
  const Dims own = row_major_strides(dims);
  Dims strides(target.size(), 0);
  const size_t offset = target.size() - dims.size();
  for (size_t i = 0; i < dims.size(); ++i) strides[offset + i] = dims[i] == 1 ? 0 : own[i];
  return strides;
}

}  // namespace attune
