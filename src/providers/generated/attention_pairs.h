// Products of bf16 for the text of attention kernels: pairs of neighbours are multiplied and their products added up in
// f32, by vectors, or on AMX tiles where ON_TILE_REGISTERS is 1. Weights are rounded to bf16.
#pragma once

#include "providers/native/attention_products.h"

namespace attune::native {
namespace {

struct Pair {
  uint32_t bits;
};

typedef __bf16 PairVector __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef float PairsInMemory __attribute__((vector_size(LANES * sizeof(uint32_t)), aligned(2), may_alias));

ALWAYS_INLINE Vector plus_product(Vector sum, Pair x, Vector w) {
  const IntVector pairs = IntVector{} + static_cast<int32_t>(x.bits);
#if LANES == 16
  return __builtin_ia32_dpbf16ps_512(sum, (PairVector)pairs, (PairVector)w);
#else
  return __builtin_ia32_dpbf16ps_256(sum, (PairVector)pairs, (PairVector)w);
#endif
}

/// Pairs of `count` numbers, then zeros.
ALWAYS_INLINE Vector load_pairs(const uint16_t* p, int64_t count) {
  if (count >= 2 * LANES) return *reinterpret_cast<const PairsInMemory*>(p);
  uint16_t numbers[2 * LANES] = {};
  for (int64_t i = 0; i < count; ++i) numbers[i] = p[i];
  return *reinterpret_cast<const PairsInMemory*>(numbers);
}

/// The bits of `count` numbers, then zeros.
ALWAYS_INLINE Bits32 load_bits(const uint16_t* p, int64_t count) { return (Bits32)load_some(p, count) >> 16; }

struct PairProducts {
  using Left = Pair;
  static constexpr bool kCopiesQueries = true;
  static constexpr bool kWritesResults = false;
  static constexpr bool kRoundsWeights = true;  // to bf16, where they are kept
  static constexpr bool kOnTileRegisters = ON_TILE_REGISTERS != 0;
  static constexpr int64_t kRowsTogether = kOnTileRegisters ? 16 : 1;
  static constexpr int64_t kDepthTogether = kOnTileRegisters ? 16 : 1;

  static int64_t depth(int64_t numbers) { return rounded_up((numbers + 1) / 2, kDepthTogether); }

  static void copy_queries(const uint16_t* q, int64_t stride, int64_t rows, int64_t head_size, float* to) {
    const int64_t row = depth(head_size);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < row; d += LANES) {
        const Vector pairs = load_pairs(q + i * stride + 2 * d, head_size - 2 * d);
        if (row - d >= LANES)
          store(to + i * row + d, pairs);
        else
          for (int64_t j = 0; j < row - d; ++j) to[i * row + d + j] = pairs[j];
      }
  }

  /// `count` keys into panels [pairs of head_size][keys side by side].
  static void pack_keys(const uint16_t* k, int64_t stride, int64_t count, int64_t head_size, float* packed) {
    const int64_t rows_of_panel = depth(head_size);
    for (int64_t first = 0; first < count; first += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(count - first, LANES));
      for (int64_t key = 0; key < width; key += LANES)
        for (int64_t d = 0; d < rows_of_panel; d += LANES) {
          Vector rows[LANES];
          for (int64_t i = 0; i < LANES; ++i)
            rows[i] = first + key + i < count ? load_pairs(k + (first + key + i) * stride + 2 * d, head_size - 2 * d)
                                              : Vector{};
          transpose(rows);
          for (int64_t i = 0; i < lower(LANES, rows_of_panel - d); ++i) store(packed + (d + i) * width + key, rows[i]);
        }
      packed += rows_of_panel * width;
    }
  }

  /// `count` values into panels [pairs of count][columns side by side].
  static void pack_values(const uint16_t* v, int64_t stride, int64_t count, int64_t value_size, float* packed) {
    const int64_t rows_of_panel = depth(count);
    for (int64_t first = 0; first < value_size; first += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(value_size - first, LANES));
      for (int64_t row = 0; row < rows_of_panel; ++row)
        for (int64_t d = 0; d < width; d += LANES) {
          const uint16_t* at = v + 2 * row * stride + first + d;
          const int64_t left = value_size - first - d;
          const Bits32 even = 2 * row < count ? load_bits(at, left) : Bits32{};
          const Bits32 odd = 2 * row + 1 < count ? load_bits(at + stride, left) : Bits32{};
          store(packed + row * width + d, (Vector)(even | odd << 16));
        }
      packed += rows_of_panel * width;
    }
  }

  /// Weights take half of the scores' room, so those behind are still to be read.
  ALWAYS_INLINE static void keep_weights(float* row, int64_t j, Vector weights) {
    typedef __bf16 Narrow __attribute__((vector_size(LANES * sizeof(uint16_t))));
#if LANES == 16
    const Bits16 bits = (Bits16)__builtin_ia32_cvtneps2bf16_512_mask(weights, Narrow{}, 0xffff);
#else
    const Bits16 bits = (Bits16)__builtin_ia32_cvtneps2bf16_256_mask(weights, Narrow{}, 0xff);
#endif
    *reinterpret_cast<Bits16*>(reinterpret_cast<uint16_t*>(row) + j) = bits;
  }
  /// Behind `count` weights, up to what is multiplied together.
  static void end_weights(float* row, int64_t count) {
    for (int64_t j = rounded_up(count, LANES); j < 2 * depth(count); j += LANES) keep_weights(row, j, Vector{});
  }
};

#if ON_TILE_REGISTERS
// Tile registers: four of sums, two of rows of the left operand, two of a panel.
struct TileConfig {
  uint8_t palette, start, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
constexpr TileConfig kTileConfig
    __attribute__((aligned(64))) = {1, 0, {}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

struct TileRegisters {
  TileRegisters() { __builtin_ia32_tile_loadconfig(&kTileConfig); }
  ~TileRegisters() { __builtin_ia32_tilerelease(); }
};

/// Sums of 16 or 32 rows and 16 or 32 columns at `sums`, `to_zero` or added to: rows of `left` with a panel of `depth`
/// rows of pairs. Strides are in floats.
template <bool kTall, bool kBroad>
ALWAYS_INLINE void multiply_tiles(const float* left, int64_t left_stride, const float* panel, int64_t panel_stride,
                                  int64_t depth, bool from_zero, float* sums, int64_t stride) {
  if (from_zero) {
    __builtin_ia32_tilezero(0);
    if constexpr (kBroad) __builtin_ia32_tilezero(1);
    if constexpr (kTall) __builtin_ia32_tilezero(2);
    if constexpr (kTall && kBroad) __builtin_ia32_tilezero(3);
  } else {
    __builtin_ia32_tileloadd64(0, sums, stride * 4);
    if constexpr (kBroad) __builtin_ia32_tileloadd64(1, sums + 16, stride * 4);
    if constexpr (kTall) __builtin_ia32_tileloadd64(2, sums + 16 * stride, stride * 4);
    if constexpr (kTall && kBroad) __builtin_ia32_tileloadd64(3, sums + 16 * stride + 16, stride * 4);
  }
  for (int64_t k = 0; k < depth; k += 16) {
    __builtin_ia32_tileloadd64(4, left + k, left_stride * 4);
    __builtin_ia32_tileloadd64(6, panel + k * panel_stride, panel_stride * 4);
    __builtin_ia32_tdpbf16ps(0, 4, 6);
    if constexpr (kBroad) {
      __builtin_ia32_tileloadd64(7, panel + k * panel_stride + 16, panel_stride * 4);
      __builtin_ia32_tdpbf16ps(1, 4, 7);
    }
    if constexpr (kTall) {
      __builtin_ia32_tileloadd64(5, left + 16 * left_stride + k, left_stride * 4);
      __builtin_ia32_tdpbf16ps(2, 5, 6);
      if constexpr (kBroad) __builtin_ia32_tdpbf16ps(3, 5, 7);
    }
  }
  __builtin_ia32_tilestored64(0, sums, stride * 4);
  if constexpr (kBroad) __builtin_ia32_tilestored64(1, sums + 16, stride * 4);
  if constexpr (kTall) __builtin_ia32_tilestored64(2, sums + 16 * stride, stride * 4);
  if constexpr (kTall && kBroad) __builtin_ia32_tilestored64(3, sums + 16 * stride + 16, stride * 4);
}

/// The same for any rows, of which there is room for whole tiles, and any columns that fill vectors.
inline void multiply_on_tiles(const float* left, int64_t left_stride, int64_t rows, const float* panel, int64_t columns,
                              int64_t panel_stride, int64_t depth, bool from_zero, float* sums, int64_t stride) {
  for (int64_t j = 0; j < columns; j += 32)
    for (int64_t i = 0; i < rows; i += 32) {
      const float* of_rows = left + i * left_stride;
      float* to = sums + i * stride + j;
      const auto multiply = [&]<bool kTall, bool kBroad>() {
        multiply_tiles<kTall, kBroad>(of_rows, left_stride, panel + j, panel_stride, depth, from_zero, to, stride);
      };
      const bool tall = rows - i > 16, broad = columns - j > 16;
      if (tall && broad) multiply.template operator()<true, true>();
      if (tall && !broad) multiply.template operator()<true, false>();
      if (!tall && broad) multiply.template operator()<false, true>();
      if (!tall && !broad) multiply.template operator()<false, false>();
    }
}
#endif

}  // namespace
}  // namespace attune::native
