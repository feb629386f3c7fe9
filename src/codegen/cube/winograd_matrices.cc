#include "base/error.h"
#include "codegen/cube/task_grid.h"
#include "codegen/cube/winograd.h"

#include <cmath>

namespace attune::cube {

std::vector<double> winograd_squares(int output_tile) {
  if (output_tile == 2) return {1};
  if (output_tile == 4) return {0.5, 2};
  throw InternalError("winograd has transforms for output tiles of 2 and 4, asked for {}", output_tile);
}

std::vector<double> winograd_even(const std::vector<double>& squares, size_t without) {
  std::vector<double> out{1};
  for (size_t i = 0; i < squares.size(); ++i) {
    if (i == without) continue;
    out.insert(out.begin(), 0);
    for (size_t k = 0; k + 1 < out.size(); ++k) out[k] -= squares[i] * out[k + 1];
  }
  return out;
}

std::vector<std::vector<double>> winograd_weight_rows(int output_tile) {
  const auto squares = winograd_squares(output_tile);
  // Each row is divided by the product of its point's distances from the others, which the input's rows leave out.
  double origin = 1;
  for (const double square : squares) origin *= -square;
  std::vector<std::vector<double>> rows{{1 / origin, 0, 0}};
  for (size_t i = 0; i < squares.size(); ++i) {
    double distances = 2 * squares[i];
    for (size_t k = 0; k < squares.size(); ++k)
      if (k != i) distances *= squares[i] - squares[k];
    for (const double point : {std::sqrt(squares[i]), -std::sqrt(squares[i])})
      rows.push_back({1 / distances, point / distances, squares[i] / distances});
  }
  rows.push_back({0, 0, 1});
  return rows;
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
