// TypeProto → dtype and symbolic shape.
#pragma once

#include "onnx/proto.h"
#include "ops/context.h"

#include <string>

namespace attune::onnx_io {

/// Throws UnsupportedError for sequences, optionals, maps and sparse tensors. Dims without a name become symbols
/// "<value>.<axis>", so that what depends on them can still be related.
ValueType import_type(const onnx::TypeProto& proto, const std::string& value_name, const std::string& what);

}  // namespace attune::onnx_io
