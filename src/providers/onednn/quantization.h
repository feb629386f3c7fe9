// What the families of 8-bit operators share: which implementations are right, and scales and zero points as arguments.
#pragma once

#include "kernel/workload.h"
#include "providers/onednn/primitive_kernel.h"

namespace attune::onednn {

/// Throws UnsupportedError where the library multiplies bytes by instructions that saturate sums of two products.
void require_exact_products();
/// Whether an implementation of 8-bit products uses only such instructions as do not saturate.
bool multiplies_exactly(const std::string& name);

/// Sums of this many products of two bytes, zero points taken off, are exact in f32.
inline constexpr int64_t kMostExactProducts = (1 << 24) / (255 * 255);

/// Throws UnsupportedError unless the input, when given, holds one element.
void require_one(const Workload& workload, size_t input, const char* what);

/// What is left of an operand's zero point to subtract: nothing when it is omitted or 0.
bool has_zero_point(const Workload& workload, size_t input);

/// A zero point as oneDNN takes it, one s32, less `shift`.
Argument zero_point_argument(PrimitiveProgram& program, const Workload& workload, size_t input, int id, int shift = 0);

/// The way from 32-bit sums to the output: multiplied by left * right / result, each one number or `columns` of them,
/// rounded to even, and moved by the zero point of the result. As post-ops, so that the numbers may be given at run
/// time. Inputs of a Requantization are positions among the inputs; kNone where there is none.
struct Requantization {
  static constexpr size_t kNone = ~size_t{0};
  size_t left = kNone, right = kNone, result = kNone, zero = kNone, bias = kNone;  // bias: of f32, added behind
  float factor = 1;
  bool rounds = true;

  /// Adds the steps to `ops`. `scale_dims` is where the columns lie in the result, such as [1, columns, 1, 1].
  void append(dnnl::post_ops& ops, const Workload& workload, const Dims& scale_dims) const;
  /// The arguments of those steps. `combined` is the memory of the combined scale where that is not made of inputs.
  void bind(PrimitiveProgram& program, const Workload& workload, const Dims& scale_dims,
            std::vector<Argument>& arguments, std::optional<Argument> combined = {}) const;
};

}  // namespace attune::onednn
