// How the attention loops multiply: what queries, weights and panels are made of. Also part of the text of generated
// kernels, which have other ways to multiply bf16 (providers/generated/attention_pairs.h).
#pragma once

#include "providers/native/attention_block.h"
#include "providers/native/attention_tiles.h"

namespace attune::native {
namespace {

constexpr int64_t kPanel = LANES * TILE_VECTORS;  // keys or columns of values side by side
constexpr int64_t kKeyBlock = KEY_BLOCK;
constexpr int64_t kGroupRows = GROUP_TILES * TILE_ROWS;
constexpr float kInfinity = __builtin_inff();

ALWAYS_INLINE int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }
ALWAYS_INLINE int64_t rounded_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
ALWAYS_INLINE int64_t clamped(int64_t n, int64_t most) { return n < 0 ? 0 : lower(n, most); }

/// In f32, which operands of another type are widened to.
template <class T> struct WideProducts {
  using Left = float;  // what of a row of queries or weights is multiplied with a row of a panel
  static constexpr bool kCopiesQueries = sizeof(T) != sizeof(float);
  static constexpr bool kWritesResults = sizeof(T) == sizeof(float);  // sums of a tile are results as they are
  static constexpr bool kRoundsWeights = false;
  static constexpr bool kOnTileRegisters = false;
  static constexpr int64_t kRowsTogether = 1;  // sums are computed for a multiple of so many rows

  /// Rows of a panel, and Lefts of a row, for so many numbers.
  static int64_t depth(int64_t numbers) { return numbers; }

  static void copy_queries(const T* q, int64_t stride, int64_t rows, int64_t head_size, float* to) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t d = 0; d < head_size; ++d) to[i * head_size + d] = as_float(q[i * stride + d]);
  }

  /// `count` keys into panels [head_size][keys side by side].
  static void pack_keys(const T* k, int64_t stride, int64_t count, int64_t head_size, float* packed) {
    for (int64_t first = 0; first < count; first += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(count - first, LANES));
      for (int64_t key = 0; key < width; key += LANES)
        for (int64_t d = 0; d < head_size; d += LANES) {
          Vector rows[LANES];
          for (int64_t i = 0; i < LANES; ++i)
            rows[i] = first + key + i < count ? load_some(k + (first + key + i) * stride + d, head_size - d) : Vector{};
          transpose(rows);
          for (int64_t i = 0; i < lower(LANES, head_size - d); ++i) store(packed + (d + i) * width + key, rows[i]);
        }
      packed += head_size * width;
    }
  }

  /// `count` values into panels [count][columns side by side].
  static void pack_values(const T* v, int64_t stride, int64_t count, int64_t value_size, float* packed) {
    for (int64_t first = 0; first < value_size; first += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(value_size - first, LANES));
      for (int64_t row = 0; row < count; ++row)
        for (int64_t d = 0; d < width; d += LANES)
          store(packed + row * width + d, load_some(v + row * stride + first + d, value_size - first - d));
      packed += count * width;
    }
  }

  /// Weights of keys [j, j + LANES) of a row.
  ALWAYS_INLINE static void keep_weights(float* row, int64_t j, Vector weights) { store(row + j, weights); }
  static void end_weights(float*, int64_t) {}
};

/// Where the parts of the workspace begin.
template <class Products> struct Scratch {
  float *keys, *values, *scores, *results, *largest, *sums, *most, *factors, *inverse, *queries;
  int64_t floats;

  explicit Scratch(const AttentionBlock& block) {
    int64_t at = 0;
    const auto take = [&](int64_t count) {
      float* part = block.workspace == nullptr ? nullptr : block.workspace + at;
      at += rounded_up(count, 16);
      return part;
    };
    const int64_t padded = rounded_up(block.value_size, LANES), depth = Products::depth(block.head_size);
    keys = take(kKeyBlock * depth);
    values = take(Products::depth(kKeyBlock) * padded);
    scores = take(kGroupRows * kKeyBlock);
    results = take(rounded_up(block.queries, Products::kRowsTogether) * padded);
    largest = take(block.queries + LANES);  // of rows that are read a vector at a time
    sums = take(block.queries + LANES);
    most = take(kGroupRows + LANES);
    factors = take(kGroupRows + LANES);
    inverse = take(kGroupRows + LANES);
    queries = take(Products::kCopiesQueries ? kGroupRows * depth : 0);
    floats = at;
  }
};

}  // namespace
}  // namespace attune::native
