// Our operands as oneDNN memory descriptors.
#pragma once

#include "kernel/tensor_spec.h"
#include "providers/onednn/engine.h"

namespace attune::onednn {

/// Throws UnsupportedError for element types that oneDNN does not have.
dnnl::memory::data_type data_type(DType dtype);

/// The operand exactly as it lies in memory. A scalar becomes one element of rank 1.
dnnl::memory::desc describe(const TensorSpec& spec);

/// The operand with ones before its dims, up to `rank`, as numpy broadcasts. Layouts other than plain fix the meaning
/// of axis 1 and so keep their rank.
dnnl::memory::desc describe_broadcast(const TensorSpec& spec, size_t rank);

/// Row-major with these dims.
dnnl::memory::desc describe_plain(DType dtype, const Dims& dims);

/// Any order that the implementation likes.
dnnl::memory::desc describe_any(DType dtype, const Dims& dims);

}  // namespace attune::onednn
