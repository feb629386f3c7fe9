// One operand of a workload as a kernel sees it: element type, dims, memory layout, whether its contents never change,
// and whether they are all zero.
#pragma once

#include "graph/graph.h"

#include <string>

namespace attune {

struct TensorSpec {
  DType dtype = DType::undefined;
  Dims dims;  // logical, in ONNX order whatever the layout
  Layout layout = Layout::plain;
  bool constant = false;
  bool zero = false;  // a constant zero point of quantisation that is 0: more kernels serve those
};

/// Bytes of storage: blocked layouts round the channels up to whole blocks. Nothing on overflow.
std::optional<int64_t> storage_bytes(const TensorSpec& spec);
/// "f32[1x64x56x56]@nhwc*", the star for constants, "*0" for zero points that are 0; "_" for an omitted operand.
std::string to_text(const std::optional<TensorSpec>& spec);
/// Whether the spec of a constant with these contents has `zero` set: bytes of rank 0 or 1, all of them 0.
bool is_zero_point_of_zero(const Tensor& tensor);

}  // namespace attune
