#include "codegen/cube/task_grid.h"

namespace attune::cube {

TaskGrid task_grid(const ProductShape& shape, int64_t panel_columns, int64_t task_rows, int64_t task_panels) {
  TaskGrid grid;
  grid.panels = divide_up(shape.columns, panel_columns);
  grid.row_tasks = divide_up(shape.rows, task_rows);
  grid.panel_tasks = divide_up(grid.panels, task_panels);
  grid.count = shape.groups * grid.row_tasks * grid.panel_tasks;
  return grid;
}

int64_t product_tasks(const ProductShape& shape, int64_t panel_columns, int64_t task_rows, int64_t task_panels) {
  return task_grid(shape, panel_columns, task_rows, task_panels).count;
}

void open_task_loop(Text& text, const ProductShape& shape, const TaskGrid& grid, int64_t task_rows, int64_t task_panels,
                    Axis split) {
  text.open("for (long task = begin; task < end; ++task)");
  const int64_t fast = split == Axis::rows ? grid.panel_tasks : grid.row_tasks;
  const int64_t slow = split == Axis::rows ? grid.row_tasks : grid.panel_tasks;
  text.line("const long fast = task % {}, slow = task / {} % {};", fast, fast, slow);
  text.line("const long row_task = {}, panel_task = {};", split == Axis::rows ? "slow" : "fast",
            split == Axis::rows ? "fast" : "slow");
  text.line("[[maybe_unused]] const long group = task / {};", grid.row_tasks * grid.panel_tasks);
  const auto range = [&](const char* what, const char* of, int64_t step, int64_t all) {
    text.line("const long first_{0} = {1} * {2}, end_{0} = first_{0} + {2} < {3} ? first_{0} + {2} : {3};", what, of,
              step, all);
  };
  range("row", "row_task", task_rows, shape.rows);
  range("panel", "panel_task", task_panels, grid.panels);
}

}  // namespace attune::cube
