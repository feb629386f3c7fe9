// Public tensors as internal ones and back.
#pragma once

#include "api/inner.h"

#include <attune/tensor.h>

namespace attune {
inline namespace v1 {

inner::DType to_inner(DType dtype);
DType from_inner(inner::DType dtype);

struct TensorAccess {
  /// Takes the storage over.
  static Tensor from_inner(inner::Tensor tensor);
};

}  // namespace v1
}  // namespace attune
