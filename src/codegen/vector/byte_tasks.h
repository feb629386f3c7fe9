// How kernels that copy rows of bytes fall into tasks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace attune::codegen {

/// Rows of a task, or the tasks of one row.
struct ByteTasks {
  int64_t rows = 1, pieces = 1;

  int64_t count(int64_t all_rows) const { return (all_rows + rows - 1) / rows * pieces; }
};

inline ByteTasks byte_tasks(int64_t row_bytes, int64_t task_bytes) {
  if (row_bytes > task_bytes) return {1, (row_bytes + task_bytes - 1) / task_bytes};
  return {std::max<int64_t>(1, task_bytes / row_bytes), 1};
}

}  // namespace attune::codegen
