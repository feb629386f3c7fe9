// The loops under elementwise operators: one input, or several that broadcast. A functor takes and returns values of
// the compute type (float for f16 and bf16).
#pragma once

#include "base/parallel.h"
#include "ops/broadcast.h"
#include "ops/dispatch.h"
#include "ops/strided_walk.h"

#include <algorithm>

namespace attune {

inline constexpr int64_t kElementwiseGrain = 16'384;

/// dst[i] = fn(src[i]).
template <class In, class Out, class F> void map_range(const In* src, Out* dst, int64_t count, F fn) {
  parallel_for(count, kElementwiseGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dst[i] = static_cast<Out>(fn(static_cast<compute_t<In>>(src[i])));
  });
}

/// Output 0 = fn(input 0), both of element type T.
template <class T, class F> void map_unary(KernelContext& context, F fn) {
  Tensor& dst = context.output(0);
  map_range(context.input(0).data<T>(), dst.mutable_data<T>(), dst.count(), fn);
}

/// map_unary over the floating-point types.
template <class F> void map_floats(KernelContext& context, F fn) {
  dispatch<FloatTypes>(context.input(0).dtype(), context, [&]<class T>() { map_unary<T>(context, fn); });
}

/// How N operands are read while a target is written in row-major order: rows along which each operand has the inner
/// stride 0 or 1, so that the loop over a row is tight. Adjacent axes are merged where every operand allows it.
template <size_t N> struct BroadcastRows {
  Dims outer;                         // index space of the rows
  std::array<Dims, N> outer_strides;  // of each operand, in elements
  int64_t row = 1;                    // elements in a row
  std::array<int64_t, N> row_strides{};
  int64_t count = 1;
};

template <size_t N>
BroadcastRows<N> broadcast_rows(std::span<const int64_t> target, const std::array<std::span<const int64_t>, N>& dims) {
  std::array<Dims, N> strides;
  for (size_t i = 0; i < N; ++i) strides[i] = broadcast_strides(dims[i], target);

  Dims merged;  // innermost first
  std::array<Dims, N> merged_strides;
  for (size_t axis = target.size(); axis-- > 0;) {
    if (target[axis] == 1) continue;
    bool merges = !merged.empty();
    for (size_t i = 0; i < N && merges; ++i) merges = strides[i][axis] == merged_strides[i].back() * merged.back();
    if (merges) {
      merged.back() *= target[axis];
      continue;
    }
    merged.push_back(target[axis]);
    for (size_t i = 0; i < N; ++i) merged_strides[i].push_back(strides[i][axis]);
  }

  BroadcastRows<N> rows;
  rows.count = element_count(target);
  if (merged.empty()) return rows;
  rows.row = merged.front();
  rows.outer.assign(merged.rbegin(), merged.rend() - 1);
  for (size_t i = 0; i < N; ++i) {
    rows.row_strides[i] = merged_strides[i].front();
    rows.outer_strides[i].assign(merged_strides[i].rbegin(), merged_strides[i].rend() - 1);
  }
  return rows;
}

/// Calls body(dst_offset, length, offsets) for pieces of rows that cover the target, in parallel.
template <size_t N, class Body> void for_each_row(const BroadcastRows<N>& rows, Body body) {
  if (rows.count == 0) return;
  parallel_for(rows.count, kElementwiseGrain, [&](int64_t begin, int64_t end) {
    StridedWalk<N> walk(rows.outer, rows.outer_strides);
    walk.seek(begin / rows.row);
    int64_t column = begin % rows.row;
    for (int64_t position = begin; position < end;) {
      const int64_t length = std::min(rows.row - column, end - position);
      std::array<int64_t, N> offsets;
      for (size_t i = 0; i < N; ++i) offsets[i] = walk.offset(i) + column * rows.row_strides[i];
      body(position, length, offsets);
      position += length;
      column = 0;
      walk.next();
    }
  });
}

/// dst = fn(a, b), both broadcast to the dims of dst. dst may be the storage of an operand of the same dims.
template <class A, class B, class Out, class F> void map_binary(const Tensor& a, const Tensor& b, Tensor& dst, F fn) {
  const A* left = a.data<A>();
  const B* right = b.data<B>();
  Out* out = dst.mutable_data<Out>();
  const auto rows = broadcast_rows<2>(dst.dims(), {a.dims(), b.dims()});
  const auto left_stride = rows.row_strides[0], right_stride = rows.row_strides[1];
  auto apply = [fn](A x, B y) {
    return static_cast<Out>(fn(static_cast<compute_t<A>>(x), static_cast<compute_t<B>>(y)));
  };
  for_each_row(rows, [&](int64_t position, int64_t length, const std::array<int64_t, 2>& offsets) {
    const A* x = left + offsets[0];
    const B* y = right + offsets[1];
    Out* z = out + position;
    if (left_stride == 1 && right_stride == 1) {
      for (int64_t i = 0; i < length; ++i) z[i] = apply(x[i], y[i]);
    } else if (left_stride == 1) {
      const B fixed = *y;
      for (int64_t i = 0; i < length; ++i) z[i] = apply(x[i], fixed);
    } else if (right_stride == 1) {
      const A fixed = *x;
      for (int64_t i = 0; i < length; ++i) z[i] = apply(fixed, y[i]);
    } else {
      std::fill(z, z + length, apply(*x, *y));
    }
  });
}

}  // namespace attune
