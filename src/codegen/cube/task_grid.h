// How a product falls into tasks, as text: which rows and panels of which group task number `task` computes.
#pragma once

#include "codegen/cube/product.h"
#include "codegen/cube/text.h"

namespace attune::cube {

struct TaskGrid {
  int64_t row_tasks = 1, panel_tasks = 1, panels = 1;  // panels of one group
  int64_t count = 1;                                   // of all groups
};
TaskGrid task_grid(const ProductShape& shape, int64_t panel_columns, int64_t task_rows, int64_t task_panels);

/// Opens the loop over tasks and declares `first_row`, `end_row`, `first_panel`, `end_panel` and `group` in it.
void open_task_loop(Text& text, const ProductShape& shape, const TaskGrid& grid, int64_t task_rows, int64_t task_panels,
                    Axis split);

/// The parameters of an entry point.
inline constexpr const char* kEntryParameters =
    "const void* const* inputs, void* const* outputs, const void* const* prepared, void* workspace, long begin, long "
    "end";

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace attune::cube
