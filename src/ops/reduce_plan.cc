#include "ops/reduce_plan.h"

#include <algorithm>

namespace attune {
namespace {

/// With a dim of 0 the others may be too large to multiply; only whether outputs and their sets are empty matters.
ReducePlan plan_empty(const Dims& dims, const std::vector<bool>& reduced) {
  ReducePlan plan;
  plan.inner_reduced = true;
  plan.inner = 1;
  Dims kept;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!reduced[axis])
      kept.push_back(dims[axis]);
    else if (dims[axis] == 0)
      plan.inner = 0;
  }
  plan.kept_count = checked_count(kept).value_or(0);
  return plan;
}

}  // namespace

ReducePlan plan_reduction(const Dims& dims, const std::vector<bool>& reduced) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return plan_empty(dims, reduced);
  Dims joined;
  std::vector<bool> joined_reduced;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    if (!joined.empty() && joined_reduced.back() == reduced[axis]) {
      joined.back() *= dims[axis];
    } else {
      joined.push_back(dims[axis]);
      joined_reduced.push_back(reduced[axis]);
    }
  }

  ReducePlan plan;
  if (joined.empty()) return plan;
  const Dims strides = row_major_strides(joined);
  plan.inner = joined.back();
  plan.inner_reduced = joined_reduced.back();
  for (size_t axis = 0; axis + 1 < joined.size(); ++axis) {
    Dims& group_dims = joined_reduced[axis] ? plan.reduced_dims : plan.kept_dims;
    Dims& group_strides = joined_reduced[axis] ? plan.reduced_strides : plan.kept_strides;
    group_dims.push_back(joined[axis]);
    group_strides.push_back(strides[axis]);
  }
  plan.kept_count = element_count(plan.kept_dims);
  plan.reduced_count = element_count(plan.reduced_dims);
  return plan;
}

}  // namespace attune
