#include "ops/pool_max.h"

#include "ops/dispatch.h"
#include "ops/infer_parts.h"
#include "ops/pool_window.h"
#include "ops/wide_tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace attune {
namespace {

using MaxTypes = TypeList<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t, uint8_t>;

template <class T> constexpr T least() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// NaN wins over every number.
template <class T> bool beats(T value, T best) {
  if constexpr (std::is_floating_point_v<T>)
    return value > best || std::isnan(value);
  else
    return value > best;
}

/// From a row-major index of a plane to one whose first axis is the fastest.
int64_t column_major(const std::vector<WindowAxis>& axes, int64_t index) {
  int64_t result = 0, size = 1;
  for (const WindowAxis& axis : axes) size *= axis.in;
  for (size_t i = axes.size(); i-- > 0;) {
    size /= axes[i].in;  // product of the axes before this one
    result += index % axes[i].in * size;
    index /= axes[i].in;
  }
  return result;
}

template <class T> void max_pool(const PoolPlan& plan, const T* src, T* dst) {
  const int64_t width = plan.axes.back().out, stride = plan.axes.back().stride;
  for_each_pool_row<char>(plan, [&](int64_t row, int64_t plane, TapRows& rows, StridedWalk<0>& taps, char*) {
    T* best = dst + row * width;
    std::fill_n(best, width, least<T>());
    visit_row(plan, rows, taps, src + plane * plan.in_size, [&](int64_t begin, int64_t end, const T* in, int64_t) {
      for (int64_t x = begin; x < end; ++x) best[x] = beats(in[x * stride], best[x]) ? in[x * stride] : best[x];
    });
  });
}

enum class IndexOrder { row_major, column_major };

template <class T>
void max_pool_indices(const PoolPlan& plan, IndexOrder order, const T* src, T* dst, int64_t* indices) {
  const int64_t width = plan.axes.back().out, stride = plan.axes.back().stride;
  constexpr int64_t kNone = -1;
  for_each_pool_row<char>(plan, [&](int64_t row, int64_t plane, TapRows& rows, StridedWalk<0>& taps, char*) {
    T* best = dst + row * width;
    int64_t* where = indices + row * width;
    std::fill_n(best, width, least<T>());
    std::fill_n(where, width, kNone);
    visit_row(plan, rows, taps, src + plane * plan.in_size,
              [&](int64_t begin, int64_t end, const T* in, int64_t position) {
                for (int64_t x = begin; x < end; ++x) {
                  if (where[x] != kNone && !beats(in[x * stride], best[x])) continue;
                  if constexpr (std::is_floating_point_v<T>)
                    if (std::isnan(best[x])) continue;  // the first NaN stays
                  best[x] = in[x * stride];
                  where[x] = position + x * stride;
                }
              });
    for (int64_t x = 0; x < width; ++x) {
      if (where[x] == kNone) continue;
      if (order == IndexOrder::column_major) where[x] = column_major(plan.axes, where[x]);
      where[x] += plane * plan.in_size;
    }
  });
}

Dim unpooled_extent(const OpContext& context, const Window& window, size_t i, const Dim& in) {
  const Dim extent = (in - Dim(1)) * Dim(window.strides[i]) +
                     Dim(window.kernel[i] - window.pads[i] - window.pads[window.kernel.size() + i]);
  if (in.is_known() && (!extent.is_known() || extent.value() < 0))
    context.fail("a spatial dim of {} cannot be unpooled with these attributes", in.value());
  return extent;
}

/// What the indices count in: the shape that the attributes give.
Shape unpooled_shape(const OpContext& context, const Shape& src) {
  const Window window = read_pool_window(context, std::ssize(src) - 2);
  Shape result{src[0], src[1]};
  for (size_t i = 0; i + 2 < src.size(); ++i) result.push_back(unpooled_extent(context, window, i, src[i + 2]));
  return result;
}

template <class T> void scatter(const OpContext& context, const T* src, const int64_t* indices, int64_t count,
                                const Dims& counted, const Dims& dims, T* dst) {
  const int64_t size = element_count(counted);
  const Dims strides = row_major_strides(dims);
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = indices[i];
    if (index < 0 || index >= size) context.fail("index {} is outside an output of {}", index, to_text(counted));
    int64_t offset = 0;
    for (size_t axis = counted.size(); axis-- > 0;) {
      offset += index % counted[axis] * strides[axis];
      index /= counted[axis];
    }
    dst[offset] = src[i];
  }
}

}  // namespace

void run_max_pool(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0));
  Tensor dst = wide_output(output);
  const PoolPlan plan = plan_pool(context, src.dims());
  const IndexOrder order = context.attr_int("storage_order", 0) == 0 ? IndexOrder::row_major : IndexOrder::column_major;
  dispatch<MaxTypes>(dst.dtype(), context, [&]<class T>() {
    if (context.wants_output(1))
      max_pool_indices<T>(plan, order, src.data<T>(), dst.mutable_data<T>(), context.output(1).mutable_data<int64_t>());
    else
      max_pool<T>(plan, src.data<T>(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

void infer_max_unpool(InferContext& context) {
  const auto &src = context.shape(0), &indices = context.shape(1);
  if (context.dtype(1) != DType::i64 && context.dtype(1) != DType::undefined)
    context.fail("indices have dtype {}, expected i64", dtype_name(context.dtype(1)));
  if (src && src->size() < 3) context.fail("input has rank {}, expected (N, C, spatial…)", src->size());
  if (src && indices) {
    if (src->size() != indices->size()) context.fail("input and indices have different ranks");
    for (size_t i = 0; i < src->size(); ++i)
      if ((*src)[i].is_known() && (*indices)[i].is_known() && (*src)[i].value() != (*indices)[i].value())
        context.fail("input is {}, indices are {}", to_text(*src), to_text(*indices));
  }
  if (!src) return context.set_output(0, context.dtype(0), std::nullopt);
  const Shape counted = unpooled_shape(context, *src);
  if (!context.has_input(2)) return context.set_output(0, context.dtype(0), counted);
  const auto wanted = int_content(context, 2);
  if (!wanted) return context.set_output(0, context.dtype(0), Shape(src->size()));
  if (wanted->size() != src->size())
    context.fail("output_shape has {} values for an input of rank {}", wanted->size(), src->size());
  for (size_t i = 0; i < wanted->size(); ++i)
    if ((*wanted)[i].is_known() && counted[i].is_known() && (*wanted)[i].value() < counted[i].value())
      context.fail("output_shape {} is smaller than {}", to_text(*wanted), to_text(counted));
  context.set_output(0, context.dtype(0), *wanted);
}

void run_max_unpool(KernelContext& context) {
  Tensor& output = context.output(0);
  const Tensor& src = context.input(0);
  std::memset(output.mutable_bytes(), 0, static_cast<size_t>(output.size_bytes()));
  const auto counted = concrete(unpooled_shape(context, to_shape(src.dims())));
  if (!counted || !checked_count(*counted)) context.fail("the output's size overflows");
  dispatch_by_size(src.dtype(), context, [&]<class U>() {
    scatter(context, reinterpret_cast<const U*>(src.bytes()), context.input(1).data<int64_t>(), src.count(), *counted,
            output.dims(), reinterpret_cast<U*>(output.mutable_bytes()));
  });
}

}  // namespace attune
