// Attention of a block of queries, for vectors of LANES floats and register tiles of TILE_ROWS x TILE_VECTORS. Included
// by one file for each instruction set, as vector_math.h is; generated kernels have it as their text, with other tiles.
//
// Keys and values are taken in blocks: the keys packed into panels that a vector of scores is computed from, the values
// into panels of their columns. For a few queries at a time the scores against such a block are held in the cache, and
// turned into weights by the online softmax: the largest score so far is known, sums and results are scaled down when a
// larger one comes. So memory does not grow with the product of the lengths.
#include "providers/native/attention_products.h"
#include "providers/native/attention_weights.h"

namespace attune::native {
namespace {

template <class T, class Products = WideProducts<T>> class Attention {
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
      Products::pack_keys(static_cast<const T*>(b_.k) + first * b_.k_stride, b_.k_stride, count, b_.head_size,
                          scratch_.keys);
      Products::pack_values(static_cast<const T*>(b_.v) + first * b_.v_stride, b_.v_stride, count, b_.value_size,
                            scratch_.values);
      // Where nothing comes after a block, its tiles are the results.
      written_ =
          Products::kWritesResults && b_.value_size % LANES == 0 && first + count == end && (first == 0 || !skips);
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
    const int64_t depth = Products::depth(b_.head_size);
    int64_t stride = b_.q_stride;
    const auto* q = queries_from(row, rows, stride);
    const float* panel = scratch_.keys;
    for (int64_t key = 0; key < seen; key += kPanel) {
      const int64_t width = lower(kPanel, rounded_up(count - key, LANES));
      if constexpr (Products::kOnTileRegisters) {
        const int64_t columns = lower(width, rounded_up(seen - key, LANES));
        multiply_on_tiles(scratch_.queries, depth, rows, panel, columns, width, depth, true, scratch_.scores + key,
                          kKeyBlock);
      } else {
        for (int64_t i = 0; i < rows; i += TILE_ROWS)
          with_tile<KEY_VECTORS_USED>(lower(TILE_ROWS, rows - i), width / LANES, [&]<int kRows, int kVectors>() {
            Tile<kRows, kVectors> tile;
            tile.clear();
            tile.multiply(q + i * stride, stride, depth, panel);
            tile.scale(b_.scale);
            if (key < keys_masked_in_tiles(count))
              tile.add_from(static_cast<const float*>(b_.added) + (row + i) * b_.mask_row_stride + first + key,
                            b_.mask_row_stride);
            tile.store_to(scratch_.scores + i * kKeyBlock + key, kKeyBlock);
          });
      }
      panel += depth * width;
    }
  }

  const typename Products::Left* queries_from(int64_t row, int64_t rows, int64_t& stride) {
    const T* q = static_cast<const T*>(b_.q) + row * b_.q_stride;
    if constexpr (Products::kCopiesQueries) {
      Products::copy_queries(q, b_.q_stride, rows, b_.head_size, scratch_.queries);
      stride = Products::depth(b_.head_size);
      return reinterpret_cast<const typename Products::Left*>(scratch_.queries);
    } else {
      static_cast<void>(rows), static_cast<void>(stride);
      return q;
    }
  }

  /// Keys of a block that a mask in f32 is added to while their scores are in registers: those of whole panels.
  int64_t keys_masked_in_tiles(int64_t count) const {
    if (!Products::kWritesResults || b_.added == nullptr || b_.mask_column_stride != 1 || b_.causal) return 0;
    return count % LANES == 0 ? count : count / kPanel * kPanel;
  }

  /// What hides a key, or adds to its score; beyond the last key up to a whole vector nothing is to be seen.
  void mask(float* __restrict scores, int64_t query, int64_t first, int64_t seen) {
    const int64_t done = keys_masked_in_tiles(seen);
    if constexpr (Products::kOnTileRegisters)
      for (int64_t j = 0; j < seen; j += LANES) store(scores + j, load(scores + j) * b_.scale);
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
      const Vector factor = weight_of<false>(before - reference);
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
      const Vector weights = weight_of<Products::kRoundsWeights>(load(scores + j) - reference);
      Products::keep_weights(scores, j, weights);
      sum += weights;
    }
    Products::end_weights(scores, seen);
    return sum_of(sum);
  }

  void add_values(int64_t row, int64_t rows, int64_t first, int64_t count, int64_t seen) {
    const int64_t padded = rounded_up(b_.value_size, LANES);
    const auto* weights = reinterpret_cast<const typename Products::Left*>(scratch_.scores);
    const float* panel = scratch_.values;
    for (int64_t column = 0; column < padded; column += kPanel) {
      const int64_t width = lower(kPanel, padded - column);
      float* results = scratch_.results + row * padded + column;
      if constexpr (Products::kOnTileRegisters) {
        if (first > 0) scale_results(results, padded, rows, width);
        multiply_on_tiles(scratch_.scores, kKeyBlock, rows, panel, width, width, Products::depth(seen), first == 0,
                          results, padded);
      } else {
        for (int64_t i = 0; i < rows; i += TILE_ROWS)
          with_tile<VALUE_VECTORS_USED>(lower(TILE_ROWS, rows - i), width / LANES, [&]<int kRows, int kVectors>() {
            Tile<kRows, kVectors> tile;
            if (first == 0)
              tile.clear();
            else
              tile.load_scaled(results + i * padded, padded, scratch_.factors + i);
            tile.multiply(weights + i * kKeyBlock, kKeyBlock, Products::depth(seen), panel);
            if (written_) {
              tile.scale_rows(scratch_.inverse + i);
              tile.store_to(static_cast<float*>(b_.y) + (row + i) * b_.y_stride + column, b_.y_stride);
            } else {
              tile.store_to(results + i * padded, padded);
            }
          });
      }
      panel += Products::depth(count) * width;
    }
  }

  void scale_results(float* results, int64_t stride, int64_t rows, int64_t width) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < width; j += LANES) {
        float* at = results + i * stride + j;
        store(at, load(at) * scratch_.factors[i]);
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

  const AttentionBlock& b_;
  Scratch<Products> scratch_;
  bool written_ = false;  // the last block of keys has written the results
};

}  // namespace
}  // namespace attune::native
