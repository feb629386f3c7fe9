#include "ops/arg_reduce.h"

#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/reduce_axes.h"

namespace attune {
namespace {

enum class Extreme { largest, smallest };
enum class Tie { first, last };

constexpr int64_t kGrain = 1 << 14;
constexpr int64_t kColumns = 1 << 10;

/// Whether `value` replaces `best`. NaN beats every number, as in numpy.
template <Extreme kExtreme, Tie kTie, class V> bool replaces(V value, V best) {
  if (best != best) return kTie == Tie::last && value != value;
  if (value != value) return true;
  if constexpr (kTie == Tie::last)
    return kExtreme == Extreme::largest ? value >= best : value <= best;
  else
    return kExtreme == Extreme::largest ? value > best : value < best;
}

/// The index of the extreme of a contiguous run.
template <Extreme kExtreme, Tie kTie, class T> int64_t scan_run(const T* src, int64_t count) {
  auto best = static_cast<compute_t<T>>(src[0]);
  int64_t index = 0;
  for (int64_t i = 1; i < count; ++i) {
    const auto value = static_cast<compute_t<T>>(src[i]);
    if (!replaces<kExtreme, kTie>(value, best)) continue;
    best = value;
    index = i;
  }
  return index;
}

/// Scans row by row of the axis, so that memory is read in order whatever the axis is.
template <Extreme kExtreme, Tie kTie, class T>
void scan_block(const T* src, const AxisSplit& split, int64_t columns, compute_t<T>* best, int64_t* index) {
  for (int64_t column = 0; column < columns; ++column) {
    best[column] = static_cast<compute_t<T>>(src[column]);
    index[column] = 0;
  }
  for (int64_t position = 1; position < split.length; ++position) {
    const T* row = src + position * split.inner;
    for (int64_t column = 0; column < columns; ++column) {
      const auto value = static_cast<compute_t<T>>(row[column]);
      if (!replaces<kExtreme, kTie>(value, best[column])) continue;
      best[column] = value;
      index[column] = position;
    }
  }
}

template <Extreme kExtreme, Tie kTie, class T> void scan(const T* src, const AxisSplit& split, int64_t* dst) {
  if (split.inner == 1) {
    parallel_for(split.outer, std::max<int64_t>(1, kGrain / split.length), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        dst[row] = scan_run<kExtreme, kTie>(src + row * split.length, split.length);
    });
    return;
  }
  const int64_t block = std::min(split.inner, kColumns);
  const int64_t blocks = (split.inner + block - 1) / block;
  const int64_t grain = std::max<int64_t>(1, kGrain / (block * split.length));
  parallel_for(split.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    std::vector<compute_t<T>> best(static_cast<size_t>(block));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t outer = task / blocks;
      const int64_t column = task % blocks * block;
      scan_block<kExtreme, kTie>(src + outer * split.length * split.inner + column, split,
                                 std::min(block, split.inner - column), best.data(),
                                 dst + outer * split.inner + column);
    }
  });
}

template <Extreme kExtreme> void run(KernelContext& context) {
  const Tensor& src = context.input(0);
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), src.rank());
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  if (src.dim(axis) == 0) context.fail("axis {} of {} is empty, so no index can be given", axis, to_text(src.dims()));
  const AxisSplit split = split_axis(src.dims(), axis);
  const bool last = context.attr_int("select_last_index", 0) != 0;
  dispatch<NumericTypes>(src.dtype(), context, [&]<class T>() {
    if (last)
      scan<kExtreme, Tie::last>(src.data<T>(), split, dst.mutable_data<int64_t>());
    else
      scan<kExtreme, Tie::first>(src.data<T>(), split, dst.mutable_data<int64_t>());
  });
}

}  // namespace

void infer_arg_reduce(InferContext& context) {
  const auto& shape = context.shape(0);
  if (!shape) {
    context.set_output(0, DType::i64, std::nullopt);
    return;
  }
  std::vector<bool> reduced(shape->size(), false);
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), static_cast<int64_t>(shape->size()));
  reduced[static_cast<size_t>(axis)] = true;
  context.set_output(0, DType::i64, reduced_shape(*shape, reduced, keep_dims_of(context)));
}

void run_arg_max(KernelContext& context) { run<Extreme::largest>(context); }
void run_arg_min(KernelContext& context) { run<Extreme::smallest>(context); }

}  // namespace attune
