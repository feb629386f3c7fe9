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

typedef uint16_t Bits16 __attribute__((vector_size(LANES * sizeof(uint16_t)), aligned(2), may_alias));
typedef uint32_t Bits32 __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(4), may_alias));

ALWAYS_INLINE Vector load(const float* p) { return *reinterpret_cast<const Vector*>(p); }
ALWAYS_INLINE void store(float* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
ALWAYS_INLINE Vector smaller(Vector a, Vector b) { return a < b ? a : b; }
ALWAYS_INLINE Vector larger(Vector a, Vector b) { return a > b ? a : b; }

// Elements of f32, or of bf16 as its bits.
ALWAYS_INLINE Vector load_as_float(const float* p) { return load(p); }
ALWAYS_INLINE Vector load_as_float(const uint16_t* p) {
  return (Vector)(__builtin_convertvector(*reinterpret_cast<const Bits16*>(p), Bits32) << 16);
}
ALWAYS_INLINE float as_float(float x) { return x; }
ALWAYS_INLINE float as_float(uint16_t x) { return __builtin_bit_cast(float, static_cast<uint32_t>(x) << 16); }

/// `count` elements, then zeros.
template <class T> ALWAYS_INLINE Vector load_some(const T* p, int64_t count) {
  if (count >= LANES) return load_as_float(p);
  float elements[LANES] = {};
  for (int64_t i = 0; i < count; ++i) elements[i] = as_float(p[i]);
  return load(elements);
}

ALWAYS_INLINE void store_as(float* p, Vector v) { store(p, v); }
ALWAYS_INLINE void store_as(uint16_t* p, Vector v) {
  const Bits32 bits = (Bits32)v;
  const Bits32 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;  // to nearest, ties to even
  const Bits32 result = v == v ? rounded : (bits >> 16) | 0x40;       // a NaN stays one
  *reinterpret_cast<Bits16*>(p) = __builtin_convertvector(result, Bits16);
}
template <class T> ALWAYS_INLINE void store_some(T* p, Vector v, int64_t count) {
  if (count >= LANES) return store_as(p, v);
  T elements[LANES];
  store_as(elements, v);
  for (int64_t i = 0; i < count; ++i) p[i] = elements[i];
}

#if LANES == 16 && defined(__AVX512F__)
/// exp(x) for x in [-87, 88], to 2 units in the last place: 2^n 2^r with |r| <= 1/2, log2(e) in two parts. The product
/// that n is taken from is rounded with it only once: there is a fused multiply-add wherever there is AVX-512.
ALWAYS_INLINE Vector exponential(Vector x) {
  const Vector n = __builtin_ia32_rndscaleps_mask(x * 1.44269502F, 8, Vector{}, -1, 4);  // to the nearest integer
  const Vector r = x * 1.92596303e-8F + (x * 1.44269502F - n);
  Vector p = Vector{} + 1.53707049e-4F;
  p = p * r + 1.33998482e-3F;
  p = p * r + 9.61837359e-3F;
  p = p * r + 5.55032901e-2F;
  p = p * r + 2.40226477e-1F;
  p = p * r + 6.93147182e-1F;
  p = p * r + 1.0F;
  return __builtin_ia32_scalefps512_mask(p, n, Vector{}, -1, 4);
}
#else
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
#endif

inline Vector sigmoid(Vector x) {
  const Vector bounded = larger(smaller(x, Vector{} + 30.0F), Vector{} - 80.0F);
  return 1.0F / (1.0F + exponential(-bounded));
}

}  // namespace
}  // namespace attune::native
