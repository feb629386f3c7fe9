// Conversion between element types, every dtype to every other: what Cast does, and how other kernels read operands
// whose dtype does not matter to them.
#pragma once

#include "graph/tensor.h"
#include "ops/context.h"

#include <cmath>
#include <concepts>
#include <limits>

namespace attune {

struct ConvertOptions {
  Overflow overflow = Overflow::saturate;  // for the 8-bit floats
  E8m0Rounding e8m0_rounding = E8m0Rounding::up;
};

/// The tensor in another dtype: integers wrap, floats are truncated towards zero, see to_integer. Shares the storage
/// when the dtype stays.
Tensor convert(const Tensor& tensor, DType to, const ConvertOptions& options = {});

/// One element of any dtype, packed ones included; `index` must be valid. 64-bit integers above 2^53 lose low bits.
double element_as_double(const Tensor& tensor, int64_t index);
/// One element of any dtype, floats truncated as by to_integer.
int64_t element_as_int(const Tensor& tensor, int64_t index);

/// The dtype that a number of ONNX's TensorProto.DataType names (attributes `to`, `dtype`, `output_dtype`). Fails,
/// naming the node, for unknown numbers and for types that attune does not have, such as string.
DType dtype_from_onnx(int64_t number, const OpContext& context);

/// Truncates towards zero. ONNX leaves values out of range undefined; here NaN becomes 0, 32- and 64-bit integers
/// saturate, and narrower ones (and u32) keep the low bits, so that -1.0 becomes 255 in u8 as common hardware has it.
template <std::integral To, std::floating_point From> To to_integer(From value) {
  using Wide =
      std::conditional_t<sizeof(To) == 8, To, std::conditional_t<std::is_same_v<To, uint32_t>, int64_t, int32_t>>;
  constexpr auto low = static_cast<From>(std::numeric_limits<Wide>::min());
  constexpr auto high = static_cast<From>(std::numeric_limits<Wide>::max());  // may round up to a power of two
  if (std::isnan(value)) return 0;
  if (value <= low) return static_cast<To>(std::numeric_limits<Wide>::min());
  if (value >= high) return static_cast<To>(std::numeric_limits<Wide>::max());
  return static_cast<To>(static_cast<Wide>(value));
}

}  // namespace attune
