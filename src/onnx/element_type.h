// ONNX element types and ours.
#pragma once

#include "graph/dtype.h"

#include <cstdint>
#include <string>

namespace attune::onnx_io {

/// Throws UnsupportedError for types that attune leaves out (string, complex, 6-bit floats) and UserError for numbers
/// that ONNX does not define; `what` names the place.
DType from_onnx_type(int32_t type, const std::string& what);
int32_t to_onnx_type(DType dtype);

}  // namespace attune::onnx_io
