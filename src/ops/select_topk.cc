#include "ops/select_topk.h"

#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/infer_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attune {
namespace {

/// A total order in which NaN is above every number, as in numpy.
template <class T> bool less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(b) ? !std::isnan(a) : a < b;
  return a < b;
}

template <class C> struct Entry {
  C value;
  int64_t index;
};

/// The best k of a lane come first, in order; ties go to the lower index.
template <class C> void select_best(std::vector<Entry<C>>& entries, int64_t k, bool largest) {
  const auto better = [largest](const Entry<C>& a, const Entry<C>& b) {
    if (largest ? less(b.value, a.value) : less(a.value, b.value)) return true;
    if (largest ? less(a.value, b.value) : less(b.value, a.value)) return false;
    return a.index < b.index;
  };
  // Partial sorting costs n log k; from a good part of the lane on, separating first is cheaper.
  const auto middle = entries.begin() + k;
  if (k * 8 < static_cast<int64_t>(entries.size())) {
    std::partial_sort(entries.begin(), middle, entries.end(), better);
    return;
  }
  if (middle != entries.end()) std::nth_element(entries.begin(), middle, entries.end(), better);
  std::sort(entries.begin(), middle, better);
}

/// Attribute k before opset 10, input 1 from then on.
Dim k_of(const InferContext& context) {
  if (context.has_attr("k")) return Dim(context.attr_int("k"));
  if (!context.has_input(1)) context.fail("no k is given");
  return int_scalar(context, 1);
}

}  // namespace

void infer_topk(InferContext& context) {
  const Dim k = k_of(context);
  if (k.is_known() && k.value() < 0) context.fail("k is {}", k.value());
  std::optional<Shape> result = context.shape(0);
  if (result) {
    const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), static_cast<int64_t>(result->size()));
    if (k.is_known() && (*result)[axis].is_known() && k.value() > (*result)[axis].value())
      context.fail("k is {}, but the axis has {} elements", k.value(), (*result)[axis].value());
    (*result)[axis] = k;
  }
  context.set_output(0, context.dtype(0), result);
  context.set_output(1, DType::i64, result);
}

void run_topk(KernelContext& context) {
  const Tensor& src = context.input(0);
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), src.rank());
  const int64_t k = context.has_attr("k") ? context.attr_int("k") : context.ints(1).at(0);
  const bool largest = context.attr_int("largest", 1) != 0;
  if (src.count() == 0 || k == 0) return;
  const AxisSplit split = split_axis(src.dims(), axis);
  int64_t* indices = context.wants_output(1) ? context.output(1).mutable_data<int64_t>() : nullptr;
  const bool wants_values = context.wants_output(0);
  dispatch<NumericTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    const T* from = src.data<T>();
    T* values = wants_values ? context.output(0).mutable_data<T>() : nullptr;
    parallel_for(split.outer * split.inner, std::max<int64_t>(1, 4096 / split.length), [&](int64_t begin, int64_t end) {
      std::vector<Entry<C>> entries(static_cast<size_t>(split.length));
      for (int64_t lane = begin; lane < end; ++lane) {
        const int64_t outer = lane / split.inner, inner = lane % split.inner;
        const T* lane_src = from + outer * split.length * split.inner + inner;
        for (int64_t i = 0; i < split.length; ++i) entries[i] = {static_cast<C>(lane_src[i * split.inner]), i};
        select_best(entries, k, largest);
        const int64_t lane_dst = outer * k * split.inner + inner;
        for (int64_t i = 0; i < k; ++i) {
          const int64_t place = lane_dst + i * split.inner;
          if (values != nullptr) values[place] = lane_src[entries[i].index * split.inner];
          if (indices != nullptr) indices[place] = entries[i].index;
        }
      }
    });
  });
}

}  // namespace attune
