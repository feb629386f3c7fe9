// RotaryEmbedding of com.microsoft: the position comes before the caches, and one position may stand for a whole batch.
#include "ops/attention_rotary.h"
#include "ops/contrib_transformer.h"
#include "ops/widen.h"

namespace attune::contrib {
namespace {

enum Input { kX, kPositions, kCos, kSin };

struct RotaryDims {
  Dim batch, rows, heads, head_size, rotary_size;
};

/// Packed heads are as wide as twice a row of the caches, unless only a part of them rotates.
RotaryDims dims_of(const InferContext& context, const Shape& x) {
  RotaryDims dims;
  dims.batch = x[0];
  dims.rotary_size = dim_of(context, kCos, 2, 1, "cos_cache") * Dim(2);
  const int64_t partial = context.attr_int("rotary_embedding_dim", 0);
  if (partial < 0) context.fail("rotary_embedding_dim is {}", partial);
  if (x.size() == 4) {
    dims.heads = x[1], dims.rows = x[2], dims.head_size = x[3];
  } else {
    dims.rows = x[1];
    if (partial > 0) {
      const int64_t heads = context.attr_int("num_heads", 0);
      dims.head_size = attention::head_size_of(x[2], heads, context, "the input");
      dims.heads = heads;
    } else {
      dims.head_size = dims.rotary_size;
      if (dims.head_size.is_known() && x[2].is_known() &&
          (dims.head_size.value() < 1 || x[2].value() % dims.head_size.value() != 0))
        context.fail("a hidden size of {} is no multiple of twice the caches' {}", x[2].value(),
                     dims.head_size.value() / 2);
      dims.heads = x[2].floor_div(dims.head_size);
    }
  }
  if (partial > 0) attention::expect_equal(dims.rotary_size, partial, context, "rotary_embedding_dim and the caches");
  if (dims.rotary_size.is_known() && dims.head_size.is_known() && dims.rotary_size.value() > dims.head_size.value())
    context.fail("{} elements of heads of {} are to rotate", dims.rotary_size.value(), dims.head_size.value());
  return dims;
}

}  // namespace

void infer_rotary(InferContext& context) {
  if (context.attr_int("is_packed_batching", 0) != 0) context.unsupported("is_packed_batching");
  if (context.attr_float("scale", 1) != 1) context.unsupported("a scale other than 1");
  context.copy_type(kX, 0);
  if (!context.shape(kX)) return;
  const Shape& x = *context.shape(kX);
  if (x.size() != 3 && x.size() != 4) context.fail("the input has rank {}, expected 3 or 4", x.size());
  dims_of(context, x);
  attention::expect_equal(dim_of(context, kSin, 2, 1, "sin_cache"), dim_of(context, kCos, 2, 1, "cos_cache"), context,
                          "widths of the caches");
}

namespace {

std::vector<int64_t> angle_rows(const KernelContext& context, int64_t batch, int64_t rows) {
  const std::vector<int64_t> given = context.ints(kPositions);
  const int64_t most = std::min(context.input(kCos).dim(0), context.input(kSin).dim(0));
  const auto count = static_cast<size_t>(batch * rows);
  const bool offset_only = context.input(kPositions).rank() <= 1 && given.size() == 1;
  if (!offset_only && given.size() != count)
    context.fail("position_ids has {} elements, expected 1 or {}", given.size(), count);
  std::vector<int64_t> result;
  for (size_t i = 0; i < count; ++i) {
    const int64_t step = offset_only ? static_cast<int64_t>(i) % rows : 0;
    const int64_t base = given[offset_only ? 0 : i];
    if (base < 0 || base >= most || base + step >= most)
      context.fail("position {} is outside of the cache of {} rows", base, most);
    result.push_back(base + step);
  }
  return result;
}

template <class C> void run_typed(KernelContext& context) {
  const Tensor x = widened<C>(context.input(kX), context);
  const Tensor cos = widened<C>(context.input(kCos), context), sin = widened<C>(context.input(kSin), context);
  if (x.count() == 0) return;
  const bool packed = x.rank() == 3;
  attention::Rotation<C> rotation;
  rotation.batch = x.dim(0), rotation.rows = x.dim(packed ? 1 : 2);
  rotation.rotary_size = 2 * cos.dim(1);
  if (packed) {
    const bool partial = context.attr_int("rotary_embedding_dim", 0) > 0;
    rotation.head_size = partial ? x.dim(2) / context.attr_int("num_heads") : rotation.rotary_size;
    rotation.heads = x.dim(2) / rotation.head_size;
  } else {
    rotation.heads = x.dim(1), rotation.head_size = x.dim(3);
  }
  rotation.interleaved = context.attr_int("interleaved", 0) != 0;
  rotation.cos = cos.data<C>(), rotation.sin = sin.data<C>();
  const std::vector<int64_t> rows = angle_rows(context, rotation.batch, rotation.rows);
  rotation.angle_rows = rows.data();
  RoundedOutput<C> y(context.output(0));
  if (packed)
    attention::rotate(rotation, attention::rows_first(x.data<C>(), rotation.heads, rotation.rows, rotation.head_size),
                      attention::rows_first(y.data(), rotation.heads, rotation.rows, rotation.head_size));
  else
    attention::rotate(rotation, attention::heads_first(x.data<C>(), rotation.heads, rotation.rows, rotation.head_size),
                      attention::heads_first(y.data(), rotation.heads, rotation.rows, rotation.head_size));
  y.store();
}

}  // namespace

void run_rotary(KernelContext& context) {
  dispatch_compute(context.input(kX).dtype(), context, [&]<class C>() { run_typed<C>(context); });
}

}  // namespace attune::contrib
