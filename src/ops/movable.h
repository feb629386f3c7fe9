// Whole bytes for every element: kernels that only move data treat packed 4-bit and 2-bit types as bytes and pack again
// at the end.
#pragma once

#include "ops/context.h"
#include "ops/packed.h"

namespace attune {

/// The tensor itself or, for a packed type, its elements one to a byte.
inline Tensor movable(const Tensor& tensor) { return unpack_bytes(tensor); }
inline int element_bytes(const Tensor& tensor) { return bit_width(tensor.dtype()) / 8; }

/// Calls move(dst) with output i or, for a packed type, with a stand-in of one byte for each element. An output without
/// elements needs no move.
template <class F> void move_into(KernelContext& context, int i, F&& move) {
  Tensor& output = context.output(i);
  if (output.count() == 0) return;
  if (!is_packed(output.dtype())) {
    move(output);
    return;
  }
  Tensor bytes = Tensor::allocate(DType::u8, output.dims());
  move(bytes);
  context.set_output(i, pack_bytes(bytes, output.dtype()));
}

}  // namespace attune
