// RotaryEmbedding of ai.onnx, from opset 23.
#include "ops/attention_rotary.h"

#include "base/parallel.h"
#include "ops/attention.h"
#include "ops/widen.h"

#include <algorithm>

namespace attune::attention {

template <class C> void rotate(const Rotation<C>& rotation, const HeadsView<const C>& src, const HeadsView<C>& dst) {
  const int64_t half = rotation.rotary_size / 2;
  const int64_t step = rotation.interleaved ? 2 : 1, partner = rotation.interleaved ? 1 : half;
  const int64_t items = rotation.batch * rotation.heads * rotation.rows;
  parallel_for(items, 1 + 4 * 1024 / (rotation.head_size + 1), [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      const int64_t i = item % rotation.rows, h = item / rotation.rows % rotation.heads;
      const int64_t b = item / rotation.rows / rotation.heads;
      const int64_t angles = rotation.angle_rows[b * rotation.rows + i] * half;
      const C* cos = rotation.cos + angles;
      const C* sin = rotation.sin + angles;
      const C* x = src.row(b, h, i);
      C* y = dst.row(b, h, i);
      for (int64_t p = 0; p < half; ++p) {
        const C real = x[p * step], imaginary = x[p * step + partner];
        y[p * step] = cos[p] * real - sin[p] * imaginary;
        y[p * step + partner] = sin[p] * real + cos[p] * imaginary;
      }
      std::copy(x + rotation.rotary_size, x + rotation.head_size, y + rotation.rotary_size);
    }
  });
}

template void rotate<float>(const Rotation<float>&, const HeadsView<const float>&, const HeadsView<float>&);
template void rotate<double>(const Rotation<double>&, const HeadsView<const double>&, const HeadsView<double>&);

namespace {

enum Input { kX, kCos, kSin, kPositions };

Dim rotary_size_of(const InferContext& context, const Shape& x) {
  const Dim head = x.size() == 4 ? x[3] : head_size_of(x[2], context.attr_int("num_heads"), context, "X");
  const int64_t stated = context.attr_int("rotary_embedding_dim", 0);
  if (stated < 0 || (head.is_known() && stated > head.value()))
    context.fail("rotary_embedding_dim {} does not fit the head size", stated);
  const Dim size = stated > 0 ? Dim(stated) : head;
  if (size.is_known() && size.value() % 2 != 0)
    context.fail("an odd number of elements, {}, is to rotate", size.value());
  return size;
}

void check_angles(const InferContext& context, int i, const Shape& x, const Dim& rotary_size) {
  const auto& shape = context.shape(i);
  if (!shape) return;
  const size_t rank = context.has_input(kPositions) ? 2 : 3;
  if (shape->size() != rank) context.fail("a cache has rank {}, expected {}", shape->size(), rank);
  expect_equal(shape->back(), rotary_size.floor_div(2), context, "row length of a cache and half the rotated elements");
  if (rank == 2) return;
  expect_equal((*shape)[0], x[0], context, "batches of X and a cache");
  expect_equal((*shape)[1], x[x.size() - 2], context, "sequence lengths of X and a cache");
}

template <class C> void run_typed(KernelContext& context) {
  const Tensor x = widened<C>(context.input(kX), context);
  const Tensor cos = widened<C>(context.input(kCos), context);
  const Tensor sin = widened<C>(context.input(kSin), context);
  const bool packed = x.rank() == 3;
  Rotation<C> rotation;
  rotation.batch = x.dim(0);
  rotation.heads = packed ? context.attr_int("num_heads") : x.dim(1);
  rotation.rows = x.dim(packed ? 1 : 2);
  rotation.head_size = packed ? x.dim(2) / rotation.heads : x.dim(3);
  rotation.rotary_size = context.attr_int("rotary_embedding_dim", 0);
  if (rotation.rotary_size == 0) rotation.rotary_size = rotation.head_size;
  rotation.interleaved = context.attr_int("interleaved", 0) != 0;
  rotation.cos = cos.data<C>();
  rotation.sin = sin.data<C>();
  if (x.count() == 0) return;

  std::vector<int64_t> angle_rows;
  if (context.has_input(kPositions)) {
    angle_rows = context.ints(kPositions);
    const int64_t most = std::min(cos.dim(0), sin.dim(0));
    for (const int64_t row : angle_rows)
      if (row < 0 || row >= most) context.fail("position {} is outside of the cache of {} rows", row, most);
  } else {
    for (int64_t i = 0; i < rotation.batch * rotation.rows; ++i) angle_rows.push_back(i);
  }
  rotation.angle_rows = angle_rows.data();
  RoundedOutput<C> y(context.output(0));
  if (packed)
    rotate(rotation, rows_first(x.data<C>(), rotation.heads, rotation.rows, rotation.head_size),
           rows_first(y.data(), rotation.heads, rotation.rows, rotation.head_size));
  else
    rotate(rotation, heads_first(x.data<C>(), rotation.heads, rotation.rows, rotation.head_size),
           heads_first(y.data(), rotation.heads, rotation.rows, rotation.head_size));
  y.store();
}

}  // namespace

void infer_rotary_embedding(InferContext& context) {
  context.copy_type(kX, 0);
  if (!context.shape(kX)) return;
  const Shape& x = *context.shape(kX);
  if (x.size() != 3 && x.size() != 4) context.fail("X has rank {}, expected 3 or 4", x.size());
  const Dim rotary_size = rotary_size_of(context, x);
  check_angles(context, kCos, x, rotary_size);
  check_angles(context, kSin, x, rotary_size);
  if (!context.has_input(kPositions) || !context.shape(kPositions)) return;
  const Shape& positions = *context.shape(kPositions);
  if (positions.size() != 2) context.fail("position_ids has rank {}, expected 2", positions.size());
  expect_equal(positions[0], x[0], context, "batches of X and position_ids");
  expect_equal(positions[1], x[x.size() - 2], context, "sequence lengths of X and position_ids");
}

void run_rotary_embedding(KernelContext& context) {
  dispatch_compute(context.input(kX).dtype(), context, [&]<class C>() { run_typed<C>(context); });
}

double rotary_flops(const CostContext& context) { return 3 * context.output_elements(0); }

}  // namespace attune::attention
