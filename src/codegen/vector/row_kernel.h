// Text of kernels that look at a whole row of elements before they write it: softmax and normalisations. Rows are
// contiguous; those of softmax may also lie across memory.
#pragma once

#include "codegen/source.h"
#include "codegen/vector/map_kernel.h"

#include <optional>

namespace attune::codegen {

/// A row of numbers beside the input: scale or shift of a normalisation.
struct RowOperand {
  Element element = Element::f32;
  int position = 0;  // among the workload's inputs
};

struct RowKernel {
  enum class Kind { softmax, log_softmax, layer_norm, rms_norm };
  /// What an element of scale and shift belongs to: a place in the row, or a row, counted again from `period` on.
  enum class ScaleOf { place, row };

  Kind kind = Kind::softmax;
  int64_t rows = 0, width = 0;
  int64_t columns = 1;               // >1: `rows` blocks of `width` lines of this many rows side by side (softmax only)
  std::vector<RowOperand> summands;  // the input is the sum of these; full tensors, then rows that are repeated
  size_t full_summands = 1;          // of them
  std::optional<RowOperand> scale, shift;
  ScaleOf scale_of = ScaleOf::place;
  int64_t period = 1;
  float epsilon = 0;
  Element output = Element::f32;
};

struct RowConfig {
  int lanes = 16;
  int unroll = 2;  // independent accumulators
  int64_t task_elements = 16384;
  Stores stores = Stores::cached;
  int ahead = 0;       // rows further on are asked for while one is computed; 0: none are
  int ahead_into = 2;  // the level of the cache that they are brought into: 1 or 2
};

/// Whether stores past the cache, which need aligned vectors, are possible.
bool can_store_past_cache(const RowKernel& kernel, int lanes);

int64_t row_task_count(const RowKernel& kernel, const RowConfig& config);
GeneratedSource emit_rows(const RowKernel& kernel, const RowConfig& config, Isa isa, const std::string& header);

}  // namespace attune::codegen
