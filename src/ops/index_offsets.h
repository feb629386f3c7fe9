// From index tensors to element offsets, for the gathering and scattering operators.
#pragma once

#include "ops/context.h"
#include "ops/infer_parts.h"
#include "ops/strided_walk.h"

namespace attune {

/// Fails unless `indices` have the rank of `data` and reach no further than it outside the attribute `axis`.
void check_element_indices(const OpContext& context, const Shape& data, const Shape& indices);

/// Element-wise indexing along one axis (GatherElements, ScatterElements): the index tensor's own position gives the
/// other coordinates. Walked by rows of the last axis.
struct ElementIndexing {
  ElementIndexing(const OpContext& context, const Dims& data, const Dims& indices);

  /// Over the rows of the index tensor; operand 0 is the offset of the row in the data without the indexed axis.
  StridedWalk<1> outer_walk() const { return StridedWalk<1>(outer_dims, {outer_strides}); }
  /// Offset of element j of a row whose index is `index`, on top of the row's own.
  int64_t offset(int64_t j, int64_t index, const OpContext& context) const {
    return checked_index(index, axis_size, context) * axis_stride + j * row_stride;
  }

  Dims outer_dims, outer_strides;
  int64_t row = 1;                         // elements of a row
  int64_t row_stride = 0;                  // 0 where the last axis is the indexed one
  int64_t axis_size = 0, axis_stride = 0;  // of the indexed axis in the data
};

/// Slice-wise indexing (GatherND, ScatterND): for each tuple of the last axis of `indices` the offset in elements of
/// the slice of `data` that it names, after `batch_dims` leading axes that both share.
std::vector<int64_t> slice_offsets(const OpContext& context, const Dims& data, const Tensor& indices,
                                   int64_t batch_dims);

}  // namespace attune
