// From scores to weights of the attention loops. Also part of the text of generated kernels.
#pragma once

#include "providers/native/vector_math.h"

namespace attune::native {
namespace {

/// 2^r for |r| <= 1/2, within 3e-7 of it, or `kBriefly` within 8e-5, for weights that are rounded to bf16. Weights are
/// divided by their sum, so 2^0 need not be 1.
template <bool kBriefly> ALWAYS_INLINE Vector power_within_half(Vector r) {
  if constexpr (kBriefly) return ((r * 0.0551716685F + 0.242611125F) * r + 0.693260968F) * r + 0.999928057F;
  Vector p = r * 1.32764725e-3F + 9.67554096e-3F;
  p = p * r + 5.55071309e-2F;
  p = p * r + 0.240221202F;
  p = p * r + 0.693146944F;
  return p * r + 1.00000012F;
}

/// exp(x) for x up to 0, also for -infinity and NaN. What is less than exp(-87) is 0: numbers with leading zeros are
/// slow to compute with.
template <bool kBriefly> ALWAYS_INLINE Vector weight_of(Vector x) {
  // A rounded product is as good as a rounded score.
  const Vector power = x * 1.44269504F;
  const Vector kSmallest = Vector{} - 126.0F;
#if LANES == 16 && defined(__AVX512F__)
  const Vector n = __builtin_ia32_rndscaleps_mask(power, 8, Vector{}, -1, 4);       // the nearest integer
  const auto counts = __builtin_ia32_cmpps512_mask(power, kSmallest, 0x15, -1, 4);  // not less, or not a number
  return __builtin_ia32_scalefps512_mask(power_within_half<kBriefly>(power - n), n, Vector{}, counts, 4);
#elif LANES == 8 && defined(__AVX512VL__)
  const Vector n = __builtin_ia32_rndscaleps_256_mask(power, 8, Vector{}, -1);
  const auto counts = __builtin_ia32_cmpps256_mask(power, kSmallest, 0x15, -1);
  return __builtin_ia32_scalefps256_mask(power_within_half<kBriefly>(power - n), n, Vector{}, counts);
#else
  const Vector kRound = Vector{} + 12583039.0F;  // 1.5 * 2^23 + 127: to an integer, with the bias of an exponent
  const Vector shifted = (power < kSmallest ? kSmallest : power) + kRound;
  const Vector p = power_within_half<kBriefly>(power - (shifted - kRound));
  return power < kSmallest ? Vector{} : p * (Vector)((IntVector)shifted << 23);
#endif
}

}  // namespace
}  // namespace attune::native
