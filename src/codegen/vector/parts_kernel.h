// Text of kernels that join tensors along an axis or cut one: rows of which each part lies in a tensor of its own.
#pragma once

#include "codegen/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attune::codegen {

struct PartsKernel {
  bool joins = true;                // parts are inputs; else they are outputs
  int64_t rows = 1;                 // of the joined tensor
  std::vector<int64_t> part_bytes;  // of a row; 0 for empty tensors

  int64_t row_bytes() const;
};

struct PartsConfig {
  int64_t task_bytes = 32 << 10;
  bool by_rows = true;  // all parts of a row after each other; else a part of all rows of the task
};

int64_t parts_task_count(const PartsKernel& kernel, const PartsConfig& config);
GeneratedSource emit_parts(const PartsKernel& kernel, const PartsConfig& config, const std::string& header);

}  // namespace attune::codegen
