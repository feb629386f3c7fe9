#include "ops/select_unique.h"

#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/infer_parts.h"
#include "ops/strided_copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace attune {
namespace {

/// -1, 0 or 1; NaN is above every number and equal to itself.
template <class T> int compare(T a, T b) {
  using C = compute_t<T>;
  const C x = static_cast<C>(a), y = static_cast<C>(b);
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(x) || std::isnan(y)) return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
  }
  return x < y ? -1 : (y < x ? 1 : 0);
}

template <class T> int compare_slices(const T* a, const T* b, int64_t size) {
  for (int64_t i = 0; i < size; ++i)
    if (const int order = compare(a[i], b[i]); order != 0) return order;
  return 0;
}

struct Groups {
  std::vector<int64_t> first;    // for each distinct slice, its first occurrence
  std::vector<int64_t> count;    // and how often it occurs
  std::vector<int64_t> inverse;  // for each slice, its group
};

/// Groups `slices` rows of `size` elements, in ascending order.
template <class T> Groups grouped(const T* data, int64_t slices, int64_t size) {
  std::vector<int64_t> order(static_cast<size_t>(slices));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int compared = compare_slices(data + a * size, data + b * size, size);
    return compared != 0 ? compared < 0 : a < b;
  });
  Groups groups;
  groups.inverse.resize(static_cast<size_t>(slices));
  for (int64_t i = 0; i < slices; ++i) {
    if (i == 0 || compare_slices(data + order[i - 1] * size, data + order[i] * size, size) != 0) {
      groups.first.push_back(order[i]);
      groups.count.push_back(0);
    }
    ++groups.count.back();
    groups.inverse[order[i]] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

/// The same groups in the order in which they first occur.
Groups by_occurrence(const Groups& groups) {
  std::vector<int64_t> order(groups.first.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return groups.first[a] < groups.first[b]; });
  Groups result;
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int64_t>(i);
    result.first.push_back(groups.first[order[i]]);
    result.count.push_back(groups.count[order[i]]);
  }
  for (const int64_t group : groups.inverse) result.inverse.push_back(place[group]);
  return result;
}

}  // namespace

void infer_unique(InferContext& context) {
  const std::optional<Shape>& shape = context.shape(0);
  if (!context.has_attr("axis")) {
    context.set_output(0, context.dtype(0), Shape{Dim::unknown()});
  } else if (shape) {
    Shape result = *shape;
    result[context.axis_in_range(context.attr_int("axis"), static_cast<int64_t>(shape->size()))] = Dim::unknown();
    context.set_output(0, context.dtype(0), result);
  } else {
    context.set_output(0, context.dtype(0), std::nullopt);
  }
  for (int i = 1; i < 4; ++i) context.set_output(i, DType::i64, Shape{Dim::unknown()});
}

void run_unique(KernelContext& context) {
  const Tensor& input = context.input(0);
  const bool flat = !context.has_attr("axis");
  const Tensor src = flat ? input.reshaped({input.count()}) : input;
  const int64_t axis = flat ? 0 : context.axis_in_range(context.attr_int("axis"), src.rank());
  if (src.count() == 0 && src.dim(axis) != 0) context.unsupported("the slices along axis {} are empty", axis);
  AxisSplit split{.outer = 0, .length = 0, .inner = 0};
  if (src.count() > 0) split = split_axis(src.dims(), axis);
  const int64_t size = split.outer * split.inner;

  // The slices one after the other, so that each is one run of elements.
  Tensor slices = Tensor::allocate(src.dtype(), {split.length, split.outer, split.inner});
  Groups groups;
  dispatch<PlainTypes>(src.dtype(), context, [&]<class T>() {
    strided_copy(sizeof(T), slices.dims(), slices.mutable_bytes(), row_major_strides(slices.dims()), src.bytes(),
                 Dims{split.inner, split.length * split.inner, 1});
    groups = grouped(slices.data<T>(), split.length, size);
  });
  if (context.attr_int("sorted", 1) == 0) groups = by_occurrence(groups);

  Dims dims = src.dims();
  const auto count = static_cast<int64_t>(groups.first.size());
  dims[axis] = count;
  if (context.wants_output(0)) {
    const int bytes = bit_width(src.dtype()) / 8;
    Tensor& dst = context.allocate(0, src.dtype(), dims);
    for (int64_t i = 0; i < count; ++i)
      strided_copy(bytes, Dims{split.outer, split.inner}, dst.mutable_bytes() + i * split.inner * bytes,
                   Dims{count * split.inner, 1}, slices.bytes() + groups.first[i] * size * bytes, Dims{split.inner, 1});
  }
  if (context.wants_output(1)) context.set_output(1, Tensor::vector(groups.first));
  if (context.wants_output(2)) context.set_output(2, Tensor::vector(groups.inverse));
  if (context.wants_output(3)) context.set_output(3, Tensor::vector(groups.count));
}

}  // namespace attune
