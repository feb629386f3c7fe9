// Attention of a block of queries, for vectors of LANES floats and register tiles of TILE_ROWS x TILE_VECTORS. Included
// by one file for each instruction set, as vector_math.h is; generated kernels have it as their text, with other tiles.
//
// Keys and values are taken in blocks: the keys packed into panels that a vector of scores is computed from, the values
// into panels of their columns. For a few queries at a time the scores against such a block are held in the cache, and
// turned into weights by the online softmax: the largest score so far is known, sums and results are scaled down when a
// larger one comes. So memory does not grow with the product of the lengths.
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

/// exp(x) for x up to 0, also for -infinity and NaN.
ALWAYS_INLINE Vector weight_of(Vector x) {
  const Vector kSmallest = Vector{} - 87.0F;
  const Vector e = exponential(x < kSmallest ? kSmallest : x);
  return x < kSmallest ? Vector{} : e;
}

/// Where the parts of the workspace begin.
struct Scratch {
  float *keys, *values, *scores, *results, *largest, *sums, *most, *factors, *inverse, *queries;
  int64_t floats;

  explicit Scratch(const AttentionBlock& block) {
    int64_t at = 0;
    const auto take = [&](int64_t count) {
      float* part = block.workspace == nullptr ? nullptr : block.workspace + at;
      at += rounded_up(count, 16);
      return part;
    };
    const int64_t padded = rounded_up(block.value_size, LANES);
    keys = take(kKeyBlock * block.head_size);
    values = take(kKeyBlock * padded);
    scores = take(kGroupRows * kKeyBlock);
    results = take(block.queries * padded);
    largest = take(block.queries + LANES);  // of rows that are read a vector at a time
    sums = take(block.queries + LANES);
    most = take(kGroupRows + LANES);
    factors = take(kGroupRows + LANES);
    inverse = take(kGroupRows + LANES);
    queries = take(block.element == AttentionElement::f32 ? 0 : kGroupRows * block.head_size);
    floats = at;
  }
};

/// `count` keys into panels [head_size][keys side by side].
template <class T> void pack_keys(const T* k, int64_t stride, int64_t count, int64_t head_size, float* packed) {
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
template <class T> void pack_values(const T* v, int64_t stride, int64_t count, int64_t value_size, float* packed) {
  for (int64_t first = 0; first < value_size; first += kPanel) {
    const int64_t width = lower(kPanel, rounded_up(value_size - first, LANES));
    for (int64_t row = 0; row < count; ++row)
      for (int64_t d = 0; d < width; d += LANES)
        store(packed + row * width + d, load_some(v + row * stride + first + d, value_size - first - d));
    packed += count * width;
  }
}

template <class T> class Attention {
 public:
  explicit Attention(const AttentionBlock& block) : b_(block), scratch_(block) {}

  /// Keys that no query of a tile sees are passed over. That is exact when their weight would vanish beside the
  /// largest; where it would not, all is computed again.
  void run() {
    const bool skips = b_.causal && b_.added == nullptr;
    attend(skips);
    if (skips && b_.fill > -kInfinity && !hidden_vanish()) attend(false);
    if (!written_) finish();
  }

 private:
  bool hidden_vanish() const {
    constexpr float kVanishes = -104;  // exp of less is 0 in f32
    for (int64_t i = 0; i < b_.queries; ++i)
      if (b_.first_visible + i < b_.keys && !(b_.fill - scratch_.largest[i] < kVanishes)) return false;
    return true;
  }

  void attend(bool skips) {
    for (int64_t i = 0; i < b_.queries + LANES; ++i) scratch_.largest[i] = -kInfinity, scratch_.sums[i] = 0;
    const int64_t end = skips ? clamped(b_.first_visible + b_.queries - 1, b_.keys) : b_.keys;
    if (end == 0) clear_results();
    for (int64_t first = 0; first < end; first += kKeyBlock) {
      const int64_t count = lower(kKeyBlock, end - first);
      pack_keys(static_cast<const T*>(b_.k) + first * b_.k_stride, b_.k_stride, count, b_.head_size, scratch_.keys);
      pack_values(static_cast<const T*>(b_.v) + first * b_.v_stride, b_.v_stride, count, b_.value_size,
                  scratch_.values);
      // Where nothing comes after a block, its tiles are the results.
      written_ = kWritesTiles && b_.value_size % LANES == 0 && first + count == end && (first == 0 || !skips);
      for (int64_t row = 0; row < b_.queries; row += kGroupRows) {
        const int64_t rows = lower(kGroupRows, b_.queries - row);
        const int64_t seen = skips ? clamped(b_.first_visible + row + rows - 1 - first, count) : count;
        attend_group(row, rows, first, count, seen);
      }
    }
  }

  void clear_results() {
    const int64_t count = b_.queries * rounded_up(b_.value_size, LANES);
    for (int64_t i = 0; i < count; ++i) scratch_.results[i] = 0;
  }

  /// Queries [row, row + rows) with the first `seen` keys of a block of `count` that begins at key `first`.
  void attend_group(int64_t row, int64_t rows, int64_t first, int64_t count, int64_t seen) {
    if (seen == 0 && first > 0) return;
    score(row, rows, first, count, seen);
    for (int64_t i = 0; i < rows; ++i) {
      float* scores = scratch_.scores + i * kKeyBlock;
      mask(scores, row + i, first, seen);
      scratch_.most[i] = largest_score(scores, seen);
    }
    rescale(row, rows);
    for (int64_t i = 0; i < rows; ++i)
      scratch_.sums[row + i] += weigh(scratch_.scores + i * kKeyBlock, seen, scratch_.most[i]);
    if (written_)
      for (int64_t i = 0; i < rows; i += LANES) store(scratch_.inverse + i, 1.0F / load(scratch_.sums + row + i));
    add_values(row, rows, first, count, seen);
  }

  void score(int64_t row, int64_t rows, int64_t first, int64_t count, int64_t seen) {
    int64_t stride = b_.q_stride;
    const float* q = queries_from(row, rows, stride);
    const float* panel = scratch_.keys;
    for (int64_t key = 0; key < seen; key += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(count - key, LANES));
      for (int64_t i = 0; i < rows; i += TILE_ROWS)
        with_tile<KEY_VECTORS_USED>(lower(TILE_ROWS, rows - i), width / LANES, [&]<int kRows, int kVectors>() {
          Tile<kRows, kVectors> tile;
          tile.clear();
          tile.multiply(q + i * stride, stride, b_.head_size, panel);
          tile.scale(b_.scale);
          if (key < keys_masked_in_tiles(count))
            tile.add_from(static_cast<const float*>(b_.added) + (row + i) * b_.mask_row_stride + first + key,
                          b_.mask_row_stride);
          tile.store_to(scratch_.scores + i * kKeyBlock + key, kKeyBlock);
        });
      panel += b_.head_size * width;
    }
  }

  const float* queries_from(int64_t row, int64_t rows, int64_t& stride) {
    const T* q = static_cast<const T*>(b_.q) + row * b_.q_stride;
    if constexpr (sizeof(T) == sizeof(float)) {
      static_cast<void>(rows), static_cast<void>(stride);
      return q;
    } else {
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t d = 0; d < b_.head_size; ++d)
          scratch_.queries[i * b_.head_size + d] = as_float(q[i * b_.q_stride + d]);
      stride = b_.head_size;
      return scratch_.queries;
    }
  }

  /// Keys of a block that a mask in f32 is added to while their scores are in registers: those of whole panels.
  int64_t keys_masked_in_tiles(int64_t count) const {
    if (!kWritesTiles || b_.added == nullptr || b_.mask_column_stride != 1 || b_.causal) return 0;
    return count % LANES == 0 ? count : count / kPanel * kPanel;
  }

  /// What hides a key, or adds to its score; beyond the last key up to a whole vector nothing is to be seen.
  void mask(float* __restrict scores, int64_t query, int64_t first, int64_t seen) {
    const int64_t done = keys_masked_in_tiles(seen);
    if (b_.causal)
      for (int64_t j = clamped(b_.first_visible + query - first, seen); j < seen; ++j) scores[j] = b_.fill;
    const int64_t at = query * b_.mask_row_stride + first * b_.mask_column_stride;
    if (b_.visible != nullptr) {
      const uint8_t* __restrict visible = b_.visible + at;
      if (b_.mask_column_stride == 0) {
        if (*visible != b_.visible_value)
          for (int64_t j = 0; j < seen; ++j) scores[j] = b_.fill;
      } else {
        for (int64_t j = 0; j < seen; ++j) scores[j] = visible[j] == b_.visible_value ? scores[j] : b_.fill;
      }
    }
    if (b_.added != nullptr) {
      const T* __restrict added = static_cast<const T*>(b_.added) + at;
      if (b_.mask_column_stride == 0)
        for (int64_t j = 0; j < seen; ++j) scores[j] += as_float(*added);
      else
        for (int64_t j = done; j < seen; ++j) scores[j] += as_float(added[j]);
    }
    for (int64_t j = seen; j < rounded_up(seen, LANES); ++j) scores[j] = -kInfinity;
  }

  static float largest_score(const float* scores, int64_t seen) {
    Vector most = Vector{} - kInfinity;
    for (int64_t j = 0; j < seen; j += LANES) most = larger(load(scores + j), most);
    return largest_of(most);
  }

  /// Makes sums of earlier blocks comparable with those of this one, and says by which factors results become so.
  void rescale(int64_t row, int64_t rows) {
    for (int64_t i = 0; i < rows; i += LANES) {
      const Vector before = load(scratch_.largest + row + i), now = larger(load(scratch_.most + i), before);
      // Where nothing is visible yet, every weight is 0, and not exp(-infinity + infinity).
      const Vector reference = now == Vector{} - kInfinity ? Vector{} : now;
      const Vector factor = weight_of(before - reference);
      store(scratch_.most + i, reference);
      store(scratch_.factors + i, factor);
      store_some(scratch_.largest + row + i, now, rows - i);
      store_some(scratch_.sums + row + i, load(scratch_.sums + row + i) * factor, rows - i);
    }
  }

  /// Scores to weights; returns their sum.
  static float weigh(float* scores, int64_t seen, float reference) {
    Vector sum{};
    for (int64_t j = 0; j < seen; j += LANES) {
      const Vector weights = weight_of(load(scores + j) - reference);
      store(scores + j, weights);
      sum += weights;
    }
    return sum_of(sum);
  }

  void add_values(int64_t row, int64_t rows, int64_t first, int64_t count, int64_t seen) {
    const int64_t padded = rounded_up(b_.value_size, LANES);
    const float* panel = scratch_.values;
    for (int64_t column = 0; column < padded; column += kPanel) {
      const int64_t width = lower(kPanel, padded - column);
      for (int64_t i = 0; i < rows; i += TILE_ROWS)
        with_tile<VALUE_VECTORS_USED>(lower(TILE_ROWS, rows - i), width / LANES, [&]<int kRows, int kVectors>() {
          float* results = scratch_.results + (row + i) * padded + column;
          Tile<kRows, kVectors> tile;
          if (first == 0)
            tile.clear();
          else
            tile.load_scaled(results, padded, scratch_.factors + i);
          tile.multiply(scratch_.scores + i * kKeyBlock, kKeyBlock, seen, panel);
          if (written_) {
            tile.scale_rows(scratch_.inverse + i);
            tile.store_to(static_cast<float*>(b_.y) + (row + i) * b_.y_stride + column, b_.y_stride);
          } else {
            tile.store_to(results, padded);
          }
        });
      panel += count * width;
    }
  }

  void finish() {
    const int64_t padded = rounded_up(b_.value_size, LANES);
    for (int64_t i = 0; i < b_.queries; ++i) {
      const float inverse = 1.0F / scratch_.sums[i];
      T* y = static_cast<T*>(b_.y) + i * b_.y_stride;
      for (int64_t d = 0; d < b_.value_size; d += LANES)
        store_some(y + d, load(scratch_.results + i * padded + d) * inverse, b_.value_size - d);
    }
  }

  static constexpr bool kWritesTiles = sizeof(T) == sizeof(float);  // of results as they are in memory

  const AttentionBlock& b_;
  Scratch scratch_;
  bool written_ = false;  // the last block of keys has written the results
};

}  // namespace
}  // namespace attune::native
