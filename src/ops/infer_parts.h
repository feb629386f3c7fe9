// Pieces of shape inference and argument checking that many operators share.
#pragma once

#include "ops/context.h"

namespace attune {

/// Contents of integer input i (i64 or i32, rank 0 or 1; elements may be symbolic or unknown). Nothing when the input
/// is omitted or its contents are not known; fails on another type or rank and on more elements than a shape can have.
std::optional<std::vector<Dim>> int_content(const InferContext& context, int i);
/// The same from attribute `name`, or else from input i.
std::optional<std::vector<Dim>> int_content(const InferContext& context, std::string_view name, int i);
/// int_content() when every element is a number.
std::optional<std::vector<int64_t>> int_values(const InferContext& context, int i);
std::optional<std::vector<int64_t>> int_values(const InferContext& context, std::string_view name, int i);
/// The number of elements of input i when it is known; nothing for an omitted input.
std::optional<int64_t> known_length(const InferContext& context, int i);
/// The one number that input i holds: its symbol or unknown when it is not known, an error for any other element count.
Dim int_scalar(const InferContext& context, int i);

/// `axes` mapped into [0, rank); fails on one out of range or named twice.
Dims distinct_axes(const OpContext& context, std::span<const int64_t> axes, int64_t rank);

/// Two statements about the same dim made one: a number beats a symbol beats nothing. Fails when two numbers differ.
Dim merged_dim(const Dim& a, const Dim& b, const OpContext& context);
/// Sum and product; numbers that overflow are an error, not an unknown dim.
Dim sum_dim(const Dim& a, const Dim& b, const OpContext& context);
Dim product_dim(const Dim& a, const Dim& b, const OpContext& context);
Shape unknown_dims(int64_t rank);
/// The numbers of a shape that a kernel computed from concrete inputs; fails when one overflowed.
Dims concrete_dims(const OpContext& context, const Shape& shape);

/// Inference of operators that keep the order of elements: the contents of input 0 are those of output 0.
void pass_content(InferContext& context, const std::optional<Shape>& output_shape);
/// Fails unless inputs i and j have one dtype (an unknown one passes).
void require_equal_dtypes(const InferContext& context, int i, int j);
/// Fails unless the rank of input i is `rank` or unknown.
void require_rank(const InferContext& context, int i, int64_t rank);
/// Fails unless input i is i32 or i64 or of unknown type.
void require_index_dtype(const InferContext& context, int i);

/// Attribute `name` as a type: ONNX numbers its element types.
DType attr_dtype(const OpContext& context, std::string_view name, DType fallback);

/// Index input i as i64, shared when it is so already.
Tensor index_tensor(const KernelContext& context, int i);
/// A possibly negative index into `size` elements; fails when it is outside.
inline int64_t checked_index(int64_t index, int64_t size, const OpContext& context) {
  if (index < -size || index >= size) context.fail("index {} is out of range for a dim of {}", index, size);
  return index < 0 ? index + size : index;
}

}  // namespace attune
