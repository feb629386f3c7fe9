// Elements narrower than a byte: from packed storage to one byte for each element and back.
#pragma once

#include "graph/tensor.h"

namespace attune {

/// One byte for each element of a packed tensor: i4 and i2 become i8 (sign kept), u4 and u2 become u8, f4e2m1 becomes
/// u8 codes. Any other tensor is returned as it is.
Tensor unpack_bytes(const Tensor& tensor);

/// Packs the low bits of each byte of an 8-bit tensor into `dtype`, which is a packed type; higher bits are dropped.
Tensor pack_bytes(const Tensor& bytes, DType dtype);

}  // namespace attune
