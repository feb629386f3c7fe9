// Windows of pooling, visited a row of outputs at a time so that the inner loop runs over neighbouring outputs.
#pragma once

#include "base/parallel.h"
#include "ops/im2col.h"

#include <vector>

namespace attune {

struct PoolPlan {
  std::vector<WindowAxis> axes;       // as the attributes say; never empty
  std::vector<WindowAxis> reading;    // the same windows without the taps that never read inside the input
  std::vector<OutRange> last_ranges;  // for each tap of the last reading axis: the outputs where it reads inside
  Dims outer_taps;
  int64_t planes = 0;
  int64_t in_size = 0, out_size = 0;
  int64_t rows = 0;  // of outputs in one plane

  /// Element visits of one row, for grains.
  int64_t row_work() const;
};

/// Plan for pooling src (N, C, spatial…).
PoolPlan plan_pool(const OpContext& context, const Dims& src);

/// Calls visit(begin, end, in, position) for each tap of the windows of one row of outputs that reads inside: output x
/// of [begin, end) reads in[x * stride], which is element position + x * stride of the plane.
template <class T, class Visit>
void visit_row(const PoolPlan& plan, TapRows& rows, StridedWalk<0>& taps, const T* plane, Visit&& visit) {
  const WindowAxis& last = plan.reading.back();
  const int64_t outer = element_count(plan.outer_taps);
  for (int64_t tap = 0; tap < outer; ++tap, taps.next()) {
    const int64_t offset = rows.row_offset(taps.index());
    if (offset < 0) continue;
    for (int64_t k = 0; k < last.kernel; ++k) {
      const OutRange& range = plan.last_ranges[static_cast<size_t>(k)];
      const int64_t position = offset + k * last.dilation - last.pad_begin;
      if (range.begin < range.end) visit(range.begin, range.end, plane + position, position);
    }
  }
}

/// Calls body(row, plane, rows, taps, scratch) for every row of outputs of every plane, in parallel; `row` counts over
/// all planes. `scratch` holds one value of type Sum for each output of a row.
template <class Sum, class Body> void for_each_pool_row(const PoolPlan& plan, Body&& body) {
  parallel_for(plan.planes * plan.rows, std::max<int64_t>(1, (1 << 14) / plan.row_work()),
               [&](int64_t begin, int64_t end) {
                 std::vector<Sum> scratch(static_cast<size_t>(plan.axes.back().out));
                 TapRows rows(plan.reading);
                 StridedWalk<0> taps(plan.outer_taps, {});
                 for (int64_t row = begin; row < end; ++row) {
                   rows.seek_row(row % plan.rows);
                   body(row, row / plan.rows, rows, taps, scratch.data());
                 }
               });
}

}  // namespace attune
