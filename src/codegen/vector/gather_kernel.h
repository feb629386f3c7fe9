// Text of kernels that copy blocks to where a list of indices wants them.
#pragma once

#include "codegen/source.h"

#include <cstdint>
#include <string>

namespace attune::codegen {

/// out[o][i] = data[o][indices[i]], blocks of bytes. Indices are right; negative ones count from the end.
struct GatherKernel {
  int64_t outer = 1;  // dims before the one that is gathered from
  int64_t size = 1;   // of that dim
  int64_t count = 1;  // indices
  int64_t block_bytes = 1;
  bool wide_indices = true;  // of 64 bits, else of 32

  int64_t blocks() const { return outer * count; }
};

struct GatherConfig {
  int64_t task_bytes = 32 << 10;
};

int64_t gather_task_count(const GatherKernel& kernel, const GatherConfig& config);
GeneratedSource emit_gather(const GatherKernel& kernel, const GatherConfig& config, const std::string& header);

}  // namespace attune::codegen
