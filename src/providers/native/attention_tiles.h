// Register tiles of the attention loops: rows of an operand times a panel. A panel is [depth][vectors * LANES].
// Included by files that are compiled for one instruction set each, as vector_math.h is.
#pragma once

#include "providers/native/vector_math.h"

namespace attune::native {
namespace {

ALWAYS_INLINE Vector plus_product(Vector sum, float x, Vector w) { return sum + x * w; }

// Vectors are members with names, since compilers keep an array of them in memory.
template <int kVectors> struct RowTile {
  Vector first;
  RowTile<kVectors - 1> rest;

  ALWAYS_INLINE void clear() { first = Vector{}, rest.clear(); }
  ALWAYS_INLINE void load_from(const float* p) { first = load(p), rest.load_from(p + LANES); }
  ALWAYS_INLINE void store_to(float* p) const { store(p, first), rest.store_to(p + LANES); }
  ALWAYS_INLINE void scale(float x) { first = first * x, rest.scale(x); }
  ALWAYS_INLINE void add_from(const float* p) { first += load(p), rest.add_from(p + LANES); }
  template <class Left> ALWAYS_INLINE void add_product(Left x, const RowTile& w) {
    first = plus_product(first, x, w.first), rest.add_product(x, w.rest);
  }
};
template <> struct RowTile<0> {
  ALWAYS_INLINE void clear() {}
  ALWAYS_INLINE void load_from(const float*) {}
  ALWAYS_INLINE void store_to(float*) const {}
  ALWAYS_INLINE void scale(float) {}
  ALWAYS_INLINE void add_from(const float*) {}
  template <class Left> ALWAYS_INLINE void add_product(Left, const RowTile&) {}
};

template <int kRows, int kVectors> struct Tile {
  RowTile<kVectors> first;
  Tile<kRows - 1, kVectors> rest;

  ALWAYS_INLINE void clear() { first.clear(), rest.clear(); }
  ALWAYS_INLINE void load_scaled(const float* p, int64_t stride, const float* factors) {
    first.load_from(p), first.scale(*factors), rest.load_scaled(p + stride, stride, factors + 1);
  }
  ALWAYS_INLINE void store_to(float* p, int64_t stride) const { first.store_to(p), rest.store_to(p + stride, stride); }
  ALWAYS_INLINE void scale(float x) { first.scale(x), rest.scale(x); }
  ALWAYS_INLINE void scale_rows(const float* factors) { first.scale(*factors), rest.scale_rows(factors + 1); }
  ALWAYS_INLINE void add_from(const float* p, int64_t stride) { first.add_from(p), rest.add_from(p + stride, stride); }
  template <class Left> ALWAYS_INLINE void add(const Left* a, int64_t stride, const RowTile<kVectors>& w) {
    first.add_product(*a, w), rest.add(a + stride, stride, w);
  }
  /// Adds the product of `depth` columns of a and as many rows of the panel.
  template <class Left> ALWAYS_INLINE void multiply(const Left* a, int64_t stride, int64_t depth, const float* panel) {
    for (int64_t k = 0; k < depth; ++k, panel += kVectors * LANES) {
      RowTile<kVectors> w;
      w.load_from(panel);
      add(a + k, stride, w);
    }
  }
};
template <int kVectors> struct Tile<0, kVectors> {
  ALWAYS_INLINE void clear() {}
  ALWAYS_INLINE void load_scaled(const float*, int64_t, const float*) {}
  ALWAYS_INLINE void store_to(float*, int64_t) const {}
  ALWAYS_INLINE void scale(float) {}
  ALWAYS_INLINE void scale_rows(const float*) {}
  ALWAYS_INLINE void add_from(const float*, int64_t) {}
  template <class Left> ALWAYS_INLINE void add(const Left*, int64_t, const RowTile<kVectors>&) {}
};

// Tiles that occur, a bit for each number of rows and of vectors, of panels of keys and of values: text for known sizes
// leaves the others out, since each is compiled.
#ifndef ROWS_USED
#define ROWS_USED ~0
#define KEY_VECTORS_USED ~0
#define VALUE_VECTORS_USED ~0
#endif

template <int kUsed, int kRows, int kVectors, class Body>
ALWAYS_INLINE void with_vectors(int64_t vectors, Body&& body) {
  if constexpr ((kUsed >> kVectors & 1) != 0)
    if (vectors == kVectors) return body.template operator()<kRows, kVectors>();
  if constexpr (kVectors > 1) with_vectors<kUsed, kRows, kVectors - 1>(vectors, body);
}

/// Calls body<rows, vectors>() for sizes up to those of the largest tile.
template <int kUsed, int kRows = TILE_ROWS, class Body>
ALWAYS_INLINE void with_tile(int64_t rows, int64_t vectors, Body&& body) {
  if constexpr (((ROWS_USED) >> kRows & 1) != 0)
    if (rows == kRows) return with_vectors<kUsed, kRows, TILE_VECTORS>(vectors, body);
  if constexpr (kRows > 1) with_tile<kUsed, kRows - 1>(rows, vectors, body);
}

// Lanes whose number has bit W set change places with those that lack it, within a vector or between two of them.
template <int...> struct LaneList {};
#if LANES == 4
using Lanes = LaneList<0, 1, 2, 3>;
#elif LANES == 8
using Lanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7>;
#else
using Lanes = LaneList<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
#endif

template <int W, int... L> ALWAYS_INLINE Vector swapped(Vector a, LaneList<L...>) {
  return __builtin_shufflevector(a, a, (L ^ W)...);
}
template <int W, int... L> ALWAYS_INLINE Vector join_low(Vector a, Vector b, LaneList<L...>) {
  return __builtin_shufflevector(a, b, ((L & W) == 0 ? L : LANES + (L ^ W))...);
}
template <int W, int... L> ALWAYS_INLINE Vector join_high(Vector a, Vector b, LaneList<L...>) {
  return __builtin_shufflevector(a, b, ((L & W) == 0 ? (L | W) : LANES + L)...);
}

template <int W = LANES / 2> ALWAYS_INLINE float sum_of(Vector v) {
  if constexpr (W == 0)
    return v[0];
  else
    return sum_of<W / 2>(v + swapped<W>(v, Lanes{}));
}
template <int W = LANES / 2> ALWAYS_INLINE float largest_of(Vector v) {
  if constexpr (W == 0)
    return v[0];
  else
    return largest_of<W / 2>(larger(v, swapped<W>(v, Lanes{})));
}

/// Transposes LANES vectors, block by block of twice the size.
template <int W = 1> ALWAYS_INLINE void transpose(Vector* rows) {
  for (int i = 0; i < LANES; ++i)
    if ((i & W) == 0) {
      const Vector a = rows[i], b = rows[i | W];
      rows[i] = join_low<W>(a, b, Lanes{});
      rows[i | W] = join_high<W>(a, b, Lanes{});
    }
  if constexpr (2 * W < LANES) transpose<2 * W>(rows);
}

}  // namespace
}  // namespace attune::native
