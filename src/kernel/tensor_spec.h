// One operand of a workload as a kernel sees it: element type, dims, memory layout, and whether its contents never
// change.
#pragma once

#include "graph/graph.h"

#include <string>

namespace attune {

struct TensorSpec {
  DType dtype = DType::undefined;
  Dims dims;  // logical, in ONNX order whatever the layout
  Layout layout = Layout::plain;
  bool constant = false;
};

/// Bytes of storage: blocked layouts round the channels up to whole blocks. Nothing on overflow.
std::optional<int64_t> storage_bytes(const TensorSpec& spec);
/// "f32[1x64x56x56]@nhwc*", the star for constants; "_" for an omitted operand.
std::string to_text(const std::optional<TensorSpec>& spec);

}  // namespace attune
