// Elementwise operators of two broadcast inputs: arithmetic, comparisons, logic, bits.
#include "ops/binary_arithmetic.h"
#include "ops/binary_compare.h"
#include "ops/binary_logic.h"
#include "ops/families.h"

namespace attune {
namespace {

OpDef binary_op(std::string_view name, int since, void (*infer)(InferContext&), void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = {2, 2},
          .outputs = {1, 1},
          .layout_class = LayoutClass::irrelevant,
          .infer = infer,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> binary_ops() {
  static const OpDef ops[] = {
      binary_op("Add", 1, infer_add, add_kernel),
      binary_op("And", 1, infer_and, and_kernel),
      binary_op("BitShift", 11, infer_bit_shift, bit_shift_kernel),
      binary_op("BitwiseAnd", 18, infer_bitwise, bitwise_and_kernel),
      binary_op("BitwiseOr", 18, infer_bitwise, bitwise_or_kernel),
      binary_op("BitwiseXor", 18, infer_bitwise, bitwise_xor_kernel),
      binary_op("Div", 1, infer_div, div_kernel),
      binary_op("Equal", 1, infer_equal, equal_kernel),
      binary_op("Greater", 1, infer_greater, greater_kernel),
      binary_op("GreaterOrEqual", 12, infer_greater_or_equal, greater_or_equal_kernel),
      binary_op("Less", 1, infer_less, less_kernel),
      binary_op("LessOrEqual", 12, infer_less_or_equal, less_or_equal_kernel),
      binary_op("Mod", 10, infer_mod, mod_kernel),
      binary_op("Mul", 1, infer_mul, mul_kernel),
      binary_op("Or", 1, infer_or, or_kernel),
      binary_op("Pow", 1, infer_pow, pow_kernel),
      binary_op("Sub", 1, infer_sub, sub_kernel),
      binary_op("Xor", 1, infer_xor, xor_kernel),
  };
  return ops;
}

}  // namespace attune
