// The loops of every reduction. An Op has: Acc, identity(), step(acc, element), merge(acc, other) and
// finish(acc, count). How the work is cut depends on the shape alone, so results do not depend on the thread count.
#pragma once

#include "base/parallel.h"
#include "ops/reduce_plan.h"
#include "ops/strided_walk.h"

#include <algorithm>
#include <array>

namespace attune {

inline constexpr int64_t kReduceGrain = 1 << 14;    // elements that are worth a thread
inline constexpr int64_t kReduceChunk = 1 << 16;    // elements of one partial result when there are few tasks
inline constexpr int64_t kReduceColumns = 1 << 10;  // accumulators that stay in the first-level cache
inline constexpr int64_t kEnoughTasks = 64;         // more need not be cut into partial results

namespace reduce_detail {

/// Independent lanes break the dependency of one accumulation on the one before.
template <class Op, class T> void accumulate_run(typename Op::Acc& acc, const T* src, int64_t count) {
  constexpr int64_t kLanes = 8;
  int64_t i = 0;
  if (count >= 2 * kLanes) {
    std::array<typename Op::Acc, kLanes> lanes;
    lanes.fill(Op::identity());
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane) Op::step(lanes[static_cast<size_t>(lane)], src[i + lane]);
    for (const auto& lane : lanes) Op::merge(acc, lane);
  }
  for (; i < count; ++i) Op::step(acc, src[i]);
}

/// Reduces elements [begin, end) of one output into acc; the inner axis is reduced.
template <class Op, class T> void accumulate_elements(StridedWalk<1>& walk, const T* src, int64_t inner, int64_t begin,
                                                      int64_t end, typename Op::Acc& acc) {
  walk.seek(begin / inner);
  int64_t in_run = begin % inner;
  for (int64_t position = begin; position < end; walk.next()) {
    const int64_t count = std::min(inner - in_run, end - position);
    accumulate_run<Op>(acc, src + walk.offset(0) + in_run, count);
    position += count;
    in_run = 0;
  }
}

/// Reduces rows [begin, end) into acc[0, columns); the inner axis is kept.
template <class Op, class T> void accumulate_rows(StridedWalk<1>& walk, const T* src, int64_t columns, int64_t begin,
                                                  int64_t end, typename Op::Acc* acc) {
  walk.seek(begin);
  for (int64_t step = begin; step < end; ++step, walk.next()) {
    const T* row = src + walk.offset(0);
    for (int64_t column = 0; column < columns; ++column) Op::step(acc[column], row[column]);
  }
}

}  // namespace reduce_detail

template <class Op, class T, class Out> void reduce(const ReducePlan& plan, const T* src, Out* dst) {
  using Acc = typename Op::Acc;
  const int64_t outputs = plan.output_count();
  const int64_t per_output = plan.elements_per_output();
  if (outputs == 0) return;
  if (per_output == 0) {
    std::fill(dst, dst + outputs, Op::finish(Op::identity(), 0));
    return;
  }

  // A task is one output, or a block of columns of one output row, over a chunk of what is reduced into it.
  const int64_t width = plan.inner_reduced ? 1 : plan.inner;
  const int64_t block = std::min(width, kReduceColumns);
  const int64_t blocks = (width + block - 1) / block;
  int64_t chunk = per_output;
  if (plan.kept_count * blocks < kEnoughTasks) chunk = std::min(chunk, std::max<int64_t>(1, kReduceChunk / block));
  const int64_t chunks = (per_output + chunk - 1) / chunk;
  std::vector<Acc> partial(static_cast<size_t>(chunks > 1 ? outputs * chunks : 0), Op::identity());

  const int64_t tasks = plan.kept_count * blocks * chunks;
  parallel_for(tasks, std::max<int64_t>(1, kReduceGrain / (chunk * block)), [&](int64_t first, int64_t last) {
    std::vector<Acc> scratch(static_cast<size_t>(block));
    StridedWalk<1> kept(plan.kept_dims, {plan.kept_strides});
    StridedWalk<1> reduced(plan.reduced_dims, {plan.reduced_strides});
    for (int64_t task = first; task < last; ++task) {
      const int64_t chunk_index = task % chunks;
      const int64_t first_column = task / chunks % blocks * block;
      const int64_t row = task / chunks / blocks;
      if (task == first)
        kept.seek(row);
      else if (task % (chunks * blocks) == 0)
        kept.next();
      const int64_t columns = std::min(block, width - first_column);
      const int64_t output = row * width + first_column;
      Acc* acc = partial.empty() ? scratch.data() : partial.data() + chunk_index * outputs + output;
      std::fill(acc, acc + columns, Op::identity());
      const T* start = src + kept.offset(0) + first_column;
      const int64_t begin = chunk_index * chunk;
      const int64_t end = std::min(per_output, begin + chunk);
      if (plan.inner_reduced)
        reduce_detail::accumulate_elements<Op>(reduced, start, plan.inner, begin, end, *acc);
      else
        reduce_detail::accumulate_rows<Op>(reduced, start, columns, begin, end, acc);
      if (!partial.empty()) continue;
      for (int64_t column = 0; column < columns; ++column) dst[output + column] = Op::finish(acc[column], per_output);
    }
  });

  if (partial.empty()) return;
  for (int64_t output = 0; output < outputs; ++output) {
    Acc total = partial[static_cast<size_t>(output)];
    for (int64_t i = 1; i < chunks; ++i) Op::merge(total, partial[static_cast<size_t>(i * outputs + output)]);
    dst[output] = Op::finish(total, per_output);
  }
}

}  // namespace attune
