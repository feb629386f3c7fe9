// How a reduction walks its input: adjacent axes of one kind are joined, so that almost every reduction is over one
// contiguous run (inner axis reduced) or adds up rows (inner axis kept).
#pragma once

#include "graph/shape.h"

#include <vector>

namespace attune {

struct ReducePlan {
  Dims kept_dims, kept_strides;        // the inner axis excluded
  Dims reduced_dims, reduced_strides;  // the inner axis excluded
  int64_t inner = 1;                   // length of the contiguous inner axis
  bool inner_reduced = false;
  int64_t kept_count = 1;     // product of kept_dims
  int64_t reduced_count = 1;  // product of reduced_dims

  int64_t output_count() const { return inner_reduced ? kept_count : kept_count * inner; }
  /// Elements that go into one output.
  int64_t elements_per_output() const { return inner_reduced ? reduced_count * inner : reduced_count; }
};

/// `reduced[i]` says whether axis i of `dims` is reduced.
ReducePlan plan_reduction(const Dims& dims, const std::vector<bool>& reduced);

}  // namespace attune
