// Text of kernels that reduce along axes.
#pragma once

#include "codegen/source.h"
#include "codegen/vector/loop_nest.h"
#include "codegen/vector/vector_text.h"

namespace attune::codegen {

struct ReduceKernel {
  enum class Kind { sum, mean, max, min, product, l1, l2, sum_square, log_sum, log_sum_exp };
  Kind kind = Kind::sum;
  /// Simplified, ordered as the input lies; strides of input, then output, which are 0 in the loops that are reduced.
  LoopNest nest;
  Element input = Element::f32, output = Element::f32;
};

struct ReduceConfig {
  int lanes = 16;
  int unroll = 4;  // independent accumulators: along a row, or vectors side by side
  int64_t task_elements = 16384;
};

/// Whether the innermost loop moves the input by one element and the output by one or not at all.
bool has_vector_rows(const ReduceKernel& kernel);
/// Whether the innermost loop is reduced, so that the lanes of a vector are combined at the end.
bool is_along_rows(const ReduceKernel& kernel);

int64_t reduce_task_count(const ReduceKernel& kernel, const ReduceConfig& config);
GeneratedSource emit_reduce(const ReduceKernel& kernel, const ReduceConfig& config, Isa isa, const std::string& header);

}  // namespace attune::codegen
