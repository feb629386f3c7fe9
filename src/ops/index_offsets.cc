#include "ops/index_offsets.h"

namespace attune {

void check_element_indices(const OpContext& context, const Shape& data, const Shape& indices) {
  if (data.size() != indices.size())
    context.fail("data {} and indices {} differ in rank", to_text(data), to_text(indices));
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), static_cast<int64_t>(data.size()));
  for (size_t i = 0; i < data.size(); ++i)
    if (static_cast<int64_t>(i) != axis && data[i].is_known() && indices[i].is_known() &&
        indices[i].value() > data[i].value())
      context.fail("indices {} reach beyond data {}", to_text(indices), to_text(data));
}

ElementIndexing::ElementIndexing(const OpContext& context, const Dims& data, const Dims& indices) {
  const auto rank = static_cast<int64_t>(data.size());
  const int64_t axis = context.axis_in_range(context.attr_int("axis", 0), rank);
  Dims strides = row_major_strides(data);
  axis_size = data[axis];
  axis_stride = strides[axis];
  strides[axis] = 0;
  row = indices.back();
  row_stride = strides.back();
  outer_dims.assign(indices.begin(), indices.end() - 1);
  outer_strides.assign(strides.begin(), strides.end() - 1);
}

std::vector<int64_t> slice_offsets(const OpContext& context, const Dims& data, const Tensor& indices,
                                   int64_t batch_dims) {
  const int64_t depth = indices.dim(indices.rank() - 1);
  const int64_t tuples = indices.count() / depth;
  const int64_t batches = element_count(std::span(data).first(static_cast<size_t>(batch_dims)));
  const int64_t batch_stride = element_count(std::span(data).subspan(static_cast<size_t>(batch_dims)));
  const int64_t tuples_per_batch = tuples / batches;
  const Dims strides = row_major_strides(data);
  const int64_t* index = indices.data<int64_t>();
  std::vector<int64_t> offsets(static_cast<size_t>(tuples));
  for (int64_t i = 0; i < tuples; ++i) {
    int64_t offset = i / tuples_per_batch * batch_stride;
    for (int64_t k = 0; k < depth; ++k)
      offset += checked_index(index[i * depth + k], data[batch_dims + k], context) * strides[batch_dims + k];
    offsets[i] = offset;
  }
  return offsets;
}

}  // namespace attune
