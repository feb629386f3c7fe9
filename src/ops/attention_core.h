// Scaled dot-product attention under every attention operator: scores, softcap, bias, masks, softmax, weighted values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attune::attention {

/// Heads of a tensor in any layout; the elements of one row are adjacent. Strides are in elements.
template <class T> struct HeadsView {
  T* data = nullptr;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t row_stride = 0;
  T* row(int64_t b, int64_t h, int64_t i) const { return data + b * batch_stride + h * head_stride + i * row_stride; }
};

/// [batch, heads, rows, size]
template <class T> HeadsView<T> heads_first(T* data, int64_t heads, int64_t rows, int64_t size) {
  return {data, heads * rows * size, rows * size, size};
}
/// [batch, rows, heads * size]
template <class T> HeadsView<T> rows_first(T* data, int64_t heads, int64_t rows, int64_t size) {
  return {data, rows * heads * size, size, heads * size};
}

template <class T> void copy_heads(const HeadsView<const T>& src, const HeadsView<T>& dst, int64_t batch, int64_t heads,
                                   int64_t rows, int64_t size) {
  if (size == 0) return;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < rows; ++i) std::copy_n(src.row(b, h, i), size, dst.row(b, h, i));
}

struct Sizes {
  int64_t batch = 0, q_heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, head_size = 0, v_head_size = 0;
};

/// Added to the scores; -infinity masks a key. Strides of 0 broadcast. Keys from `columns` on are masked.
template <class C> struct Bias {
  const C* data = nullptr;
  int64_t batch_stride = 0, head_stride = 0, row_stride = 0, column_stride = 0;
  int64_t columns = 0;
};

/// The keys that a query may see by position: causal order, sliding window and padding are all intervals.
struct KeyWindow {
  std::vector<int64_t> offset;  // by batch: position of the first query among the keys
  std::vector<int64_t> valid;   // by batch: keys that are not padding
  bool causal = false;
  int64_t left = -1, right = -1;  // -1: unbounded

  struct Range {
    int64_t begin = 0, end = 0;
  };
  Range range(int64_t b, int64_t query, int64_t kv_len) const;
};

/// No restriction for `batch` rows of `kv_len` keys.
KeyWindow open_window(int64_t batch, int64_t kv_len);

enum class QkMode : uint8_t { none, raw, softcapped, biased, probabilities };

template <class C> struct Problem {
  Sizes sizes;
  HeadsView<const C> q, k, v;
  double scale = 1;
  double softcap = 0;  // 0: none
  Bias<C> bias;
  KeyWindow window;
  const C* sink = nullptr;  // by query head: a score that takes its share of the softmax but has no value
  HeadsView<C> y;
  QkMode qk_mode = QkMode::none;
  C* qk = nullptr;  // [batch, q_heads, q_len, kv_len]
};

/// A query that sees no key gives zeros.
template <class C> void attend(const Problem<C>& problem);

/// In place over `count` values; all of them -infinity gives zeros. `sink`: a further score, or nullptr.
template <class C> void softmax_row(C* values, int64_t count, const C* sink = nullptr);

}  // namespace attune::attention
