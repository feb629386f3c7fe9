// The transforms for the points 0, 1, -1 (and 2, -2) and infinity.
#include "base/error.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/winograd.h"

namespace attune::cube {

WinogradMatrices winograd_matrices(int output_tile) {
  if (output_tile == 2)
    return {{{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
            {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
            {{1, 1, 1, 0}, {0, 1, -1, -1}}};
  if (output_tile == 4)
    return {{{4, 0, -5, 0, 1, 0},
             {0, -4, -4, 1, 1, 0},
             {0, 4, -4, -1, 1, 0},
             {0, -2, -1, 2, 1, 0},
             {0, 2, -1, -2, 1, 0},
             {0, 4, 0, -5, 0, 1}},
            {{1. / 4, 0, 0},
             {-1. / 6, -1. / 6, -1. / 6},
             {-1. / 6, 1. / 6, -1. / 6},
             {1. / 24, 1. / 12, 1. / 6},
             {1. / 24, -1. / 12, 1. / 6},
             {0, 0, 1}},
            {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 0}, {0, 1, -1, 8, -8, 1}}};
  throw InternalError("winograd has transforms for output tiles of 2 and 4, asked for {}", output_tile);
}

int64_t winograd_tiles(const WinogradShape& shape, const WinogradSchedule& schedule) {
  return divide_up(shape.down.out, schedule.output_tile) * divide_up(shape.across.out, schedule.output_tile);
}

int64_t winograd_tasks(const WinogradShape& shape, const WinogradSchedule& schedule) {
  return divide_up(shape.images * winograd_tiles(shape, schedule), schedule.task_tiles) *
         divide_up(divide_up(shape.out_channels, schedule.panel_columns()), schedule.task_panels);
}

int64_t winograd_task_bytes(const WinogradShape& shape, const WinogradSchedule& schedule) {
  const int64_t columns = schedule.task_panels * schedule.panel_columns();
  return schedule.block_tiles * schedule.positions() * (shape.in_channels + columns) * 4;
}

}  // namespace attune::cube
