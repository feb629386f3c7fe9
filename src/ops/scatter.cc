// Operators that write updates into a copy of their input: Scatter, ScatterElements, ScatterND, TensorScatter.
#include "ops/axis_split.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/index_offsets.h"
#include "ops/infer_parts.h"
#include "ops/movable.h"
#include "ops/strided_walk.h"

#include <cmath>
#include <cstring>

namespace attune {
namespace {

enum class Reduction { none, add, mul, max, min };

Reduction reduction_of(const OpContext& context) {
  const std::string name = context.attr_string("reduction", "none");
  if (name == "none") return Reduction::none;
  if (name == "add") return Reduction::add;
  if (name == "mul") return Reduction::mul;
  if (name == "max") return Reduction::max;
  if (name == "min") return Reduction::min;
  context.fail("reduction '{}' is not one of none, add, mul, max, min", name);
}

template <class T> bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <Reduction reduction, class T> T reduced(T old_value, T update) {
  using C = compute_t<T>;
  const C a = static_cast<C>(old_value), b = static_cast<C>(update);
  if constexpr (std::is_integral_v<T> && reduction == Reduction::add)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));  // wraps
  else if constexpr (std::is_integral_v<T> && reduction == Reduction::mul)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else if constexpr (reduction == Reduction::add)
    return static_cast<T>(a + b);
  else if constexpr (reduction == Reduction::mul)
    return static_cast<T>(a * b);
  else if constexpr (reduction == Reduction::max)
    return static_cast<T>(b > a || is_nan(b) ? b : a);  // NaN wins
  else
    return static_cast<T>(b < a || is_nan(b) ? b : a);
}

/// Calls f<T>(combine) for the dtype and reduction, where combine(T old, T update) is the new value.
template <class F> void dispatch_reduction(const Tensor& data, const OpContext& context, F&& f) {
  const Reduction reduction = reduction_of(context);
  if (reduction == Reduction::none) {
    dispatch_by_size(data.dtype(), context, [&]<class T>() { f.template operator()<T>([](T, T b) { return b; }); });
    return;
  }
  dispatch<NumericTypes>(data.dtype(), context, [&]<class T>() {
    switch (reduction) {
      case Reduction::add: return f.template operator()<T>(reduced<Reduction::add, T>);
      case Reduction::mul: return f.template operator()<T>(reduced<Reduction::mul, T>);
      case Reduction::max: return f.template operator()<T>(reduced<Reduction::max, T>);
      default: return f.template operator()<T>(reduced<Reduction::min, T>);
    }
  });
}

void copy_data(const Tensor& src, Tensor& dst) {
  std::memcpy(dst.mutable_bytes(), src.bytes(), static_cast<size_t>(src.size_bytes()));
}

/// A packed type can be replaced but not reduced.
Tensor movable_data(const KernelContext& context, int i) {
  if (is_packed(context.input(i).dtype()) && reduction_of(context) != Reduction::none)
    context.unsupported("dtype {} cannot be reduced", dtype_name(context.input(i).dtype()));
  return movable(context.input(i));
}

// ---- ScatterElements ----

void infer_scatter_elements(InferContext& context) {
  reduction_of(context);
  require_index_dtype(context, 1);
  require_equal_dtypes(context, 0, 2);
  const std::optional<Shape>&data = context.shape(0), &indices = context.shape(1), &updates = context.shape(2);
  if (data && indices) check_element_indices(context, *data, *indices);
  if (indices && updates) {
    if (indices->size() != updates->size())
      context.fail("indices {} and updates {} differ in rank", to_text(*indices), to_text(*updates));
    for (size_t i = 0; i < indices->size(); ++i) merged_dim((*indices)[i], (*updates)[i], context);
  }
  context.copy_type(0, 0);
}

void run_scatter_elements(KernelContext& context) {
  const Tensor data = movable_data(context, 0), updates = movable_data(context, 2);
  const Tensor indices = index_tensor(context, 1);
  const ElementIndexing indexing(context, data.dims(), indices.dims());
  move_into(context, 0, [&](Tensor& dst) {
    copy_data(data, dst);
    if (indices.count() == 0) return;
    dispatch_reduction(data, context, [&]<class T>(auto combine) {
      const T* from = reinterpret_cast<const T*>(updates.bytes());
      T* to = reinterpret_cast<T*>(dst.mutable_bytes());
      const int64_t* index = indices.data<int64_t>();
      const int64_t rows = indices.count() / indexing.row;
      StridedWalk<1> walk = indexing.outer_walk();
      walk.seek(0);
      for (int64_t i = 0; i < rows; ++i, walk.next())
        for (int64_t j = 0; j < indexing.row; ++j) {
          const int64_t k = i * indexing.row + j;
          T& element = to[walk.offset(0) + indexing.offset(j, index[k], context)];
          element = combine(element, from[k]);
        }
    });
  });
}

// ---- ScatterND ----

void infer_scatter_nd(InferContext& context) {
  reduction_of(context);
  require_equal_dtypes(context, 0, 2);
  if (context.dtype(1) != DType::i64 && context.dtype(1) != DType::undefined)
    context.fail("indices have dtype {}, expected i64", dtype_name(context.dtype(1)));
  context.copy_type(0, 0);
  const std::optional<Shape>&data = context.shape(0), &indices = context.shape(1), &updates = context.shape(2);
  if (!data || !indices) return;
  if (data->empty() || indices->empty())
    context.fail("data {} and indices {} must have at least rank 1", to_text(*data), to_text(*indices));
  if (!indices->back().is_known()) return;
  const int64_t depth = indices->back().value();
  if (depth < 1 || depth > static_cast<int64_t>(data->size()))
    context.fail("indices of {} numbers do not fit data of {}", depth, to_text(*data));
  if (!updates) return;
  Shape expected(indices->begin(), indices->end() - 1);
  expected.insert(expected.end(), data->begin() + depth, data->end());
  if (updates->size() != expected.size())
    context.fail("updates are {}, expected {}", to_text(*updates), to_text(expected));
  for (size_t i = 0; i < expected.size(); ++i) merged_dim(expected[i], (*updates)[i], context);
}

void run_scatter_nd(KernelContext& context) {
  const Tensor data = movable_data(context, 0), updates = movable_data(context, 2);
  const Tensor indices = index_tensor(context, 1);
  move_into(context, 0, [&](Tensor& dst) {
    copy_data(data, dst);
    if (indices.count() == 0 || updates.count() == 0) return;
    const std::vector<int64_t> offsets = slice_offsets(context, data.dims(), indices, 0);
    const int64_t block = updates.count() / static_cast<int64_t>(offsets.size());
    dispatch_reduction(data, context, [&]<class T>(auto combine) {
      const T* from = reinterpret_cast<const T*>(updates.bytes());
      T* to = reinterpret_cast<T*>(dst.mutable_bytes());
      for (const int64_t offset : offsets) {
        for (int64_t j = 0; j < block; ++j) to[offset + j] = combine(to[offset + j], from[j]);
        from += block;
      }
    });
  });
}

// ---- TensorScatter ----

void infer_tensor_scatter(InferContext& context) {
  const std::string mode = context.attr_string("mode", "linear");
  if (mode != "linear" && mode != "circular") context.fail("mode '{}' is not one of linear, circular", mode);
  require_equal_dtypes(context, 0, 1);
  context.copy_type(0, 0);
  const std::optional<Shape>&cache = context.shape(0), &update = context.shape(1);
  if (!cache || !update) return;
  const auto rank = static_cast<int64_t>(cache->size());
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -2), rank);
  if (axis == 0) context.fail("axis 0 is the batch, the cache cannot be written along it");
  if (cache->size() != update->size())
    context.fail("cache {} and update {} differ in rank", to_text(*cache), to_text(*update));
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) merged_dim((*cache)[i], (*update)[i], context);
  if (!context.has_input(2)) return;
  require_index_dtype(context, 2);
  require_rank(context, 2, 1);
  if (context.shape(2)) merged_dim((*cache)[0], (*context.shape(2))[0], context);
}

void run_tensor_scatter(KernelContext& context) {
  const Tensor cache = movable(context.input(0)), update = movable(context.input(1));
  if (cache.count() == 0) return;
  const int64_t axis = context.axis_in_range(context.attr_int("axis", -2), cache.rank());
  const bool circular = context.attr_string("mode", "linear") == "circular";
  const int64_t room = cache.dim(axis), length = update.dim(axis);
  if (length > room) context.fail("an update of {} does not fit a cache of {}", length, room);
  std::vector<int64_t> starts(static_cast<size_t>(cache.dim(0)), 0);
  if (context.has_input(2)) starts = context.ints(2);
  for (const int64_t start : starts)
    if (start < 0 || (!circular && start > room - length))
      context.fail("write index {} with an update of {} is outside a cache of {}", start, length, room);
  move_into(context, 0, [&](Tensor& dst) {
    copy_data(cache, dst);
    const AxisSplit split = split_axis(cache.dims(), axis);
    const int64_t rows_per_batch = split.outer / cache.dim(0);
    const int64_t block = split.inner * element_bytes(cache);
    const std::byte* from = update.bytes();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      const int64_t start = starts[outer / rows_per_batch] % room;
      for (int64_t t = 0; t < length; ++t, from += block)
        std::memcpy(dst.mutable_bytes() + (outer * room + (start + t) % room) * block, from,
                    static_cast<size_t>(block));
    }
  });
}

}  // namespace

std::span<const OpDef> scatter_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "Scatter",
       .since = 9,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_scatter_elements,
       .kernel = run_scatter_elements,
       .until = 10},
      {.domain = "",
       .name = "ScatterElements",
       .since = 11,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_scatter_elements,
       .kernel = run_scatter_elements},
      {.domain = "",
       .name = "ScatterND",
       .since = 11,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_scatter_nd,
       .kernel = run_scatter_nd},
      {.domain = "",
       .name = "TensorScatter",
       .since = 24,
       .inputs = {2, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_tensor_scatter,
       .kernel = run_tensor_scatter},
  };
  return ops;
}

}  // namespace attune
