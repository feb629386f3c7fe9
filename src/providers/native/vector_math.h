// Vectors of LANES floats and what the loops of several kernels do with them. Included by files that are compiled for
// one instruction set each; so nothing here may be shared with other files: no standard library, no external linkage.
#pragma once

#include <cstdint>

// At every level of optimisation: a call would put the vectors into memory.
#define ALWAYS_INLINE inline __attribute__((always_inline))

namespace attune::native {
namespace {

typedef float Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t IntVector __attribute__((vector_size(LANES * sizeof(int32_t)), aligned(4), may_alias));

ALWAYS_INLINE Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
ALWAYS_INLINE void store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
ALWAYS_INLINE Vector smaller(Vector a, Vector b) { return a < b ? a : b; }
ALWAYS_INLINE Vector larger(Vector a, Vector b) { return a > b ? a : b; }

/// exp(x) for x in [-87, 88], to 2 units in the last place: 2^n times a polynomial over ±ln(2)/2.
ALWAYS_INLINE Vector exponential(Vector x) {
  const Vector kRound = Vector{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Vector shifted = x * 1.44269504F + kRound;
  const Vector n = shifted - kRound;
  Vector r = x - n * 0.693359375F;  // ln(2) in two parts
  r = r + n * 2.12194440e-4F;
  Vector p = Vector{} + 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const IntVector scale = (__builtin_convertvector(n, IntVector) + 127) << 23;
  return p * (Vector)scale;
}

}  // namespace
}  // namespace attune::native
