#include "ops/attention_core.h"

#include "base/parallel.h"
#include "ops/gemm.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::attention {
namespace {

constexpr int64_t kUnbounded = int64_t{1} << 60;  // beyond any position, and safe to add to one
constexpr int64_t kTileRows = 64;  // queries whose scores are alive at a time: memory grows with kv_len only

template <class C> constexpr C kMasked = -std::numeric_limits<C>::infinity();

/// Scores of one query from the plain dot products, in place; copies the stage that is asked for to `qk`.
template <class C>
void finish_scores(const Problem<C>& problem, int64_t b, int64_t h, int64_t query, C* scores, C* qk) {
  const int64_t keys = problem.sizes.kv_len;
  const C scale = static_cast<C>(problem.scale);
  for (int64_t j = 0; j < keys; ++j) scores[j] *= scale;
  if (problem.qk_mode == QkMode::raw) std::copy_n(scores, keys, qk);
  if (problem.softcap > 0) {
    const C cap = static_cast<C>(problem.softcap);
    for (int64_t j = 0; j < keys; ++j) scores[j] = cap * std::tanh(scores[j] / cap);
  }
  if (problem.qk_mode == QkMode::softcapped) std::copy_n(scores, keys, qk);

  auto [begin, end] = problem.window.range(b, query, keys);
  const Bias<C>& bias = problem.bias;
  if (bias.data != nullptr) {
    end = std::max(begin, std::min(end, bias.columns));
    const C* row = bias.data + b * bias.batch_stride + h * bias.head_stride + query * bias.row_stride;
    // Selected, not only added: a masked key must not matter even where its score is infinite or NaN.
    for (int64_t j = begin; j < end; ++j) {
      const C add = row[j * bias.column_stride];
      scores[j] = add == kMasked<C> ? kMasked<C> : scores[j] + add;
    }
  }
  std::fill(scores, scores + begin, kMasked<C>);
  std::fill(scores + end, scores + keys, kMasked<C>);
  if (problem.qk_mode == QkMode::biased) std::copy_n(scores, keys, qk);
  softmax_row(scores, keys, problem.sink ? problem.sink + h : nullptr);
  if (problem.qk_mode == QkMode::probabilities) std::copy_n(scores, keys, qk);
}

}  // namespace

KeyWindow::Range KeyWindow::range(int64_t b, int64_t query, int64_t kv_len) const {
  const auto index = static_cast<size_t>(b);
  const int64_t position = offset[index] + query;
  Range range{0, std::min(kv_len, valid[index])};
  if (causal) range.end = std::min(range.end, position + 1);
  if (right >= 0) range.end = std::min(range.end, position + std::min(right, kUnbounded) + 1);
  if (left >= 0 && left < position) range.begin = position - left;
  range.end = std::max<int64_t>(range.end, 0);
  range.begin = std::min(range.begin, range.end);
  return range;
}

KeyWindow open_window(int64_t batch, int64_t kv_len) {
  KeyWindow window;
  window.offset.assign(static_cast<size_t>(batch), 0);
  window.valid.assign(static_cast<size_t>(batch), kv_len);
  return window;
}

template <class C> void softmax_row(C* values, int64_t count, const C* sink) {
  C largest = sink ? *sink : kMasked<C>;
  for (int64_t j = 0; j < count; ++j) largest = values[j] > largest ? values[j] : largest;
  if (largest == kMasked<C>) {
    // Nothing to attend, unless a NaN says that something is broken.
    for (int64_t j = 0; j < count; ++j) values[j] = std::isnan(values[j]) ? values[j] : C(0);
    return;
  }
  double sum = sink ? std::exp(static_cast<double>(*sink - largest)) : 0;
  for (int64_t j = 0; j < count; ++j) {
    values[j] = std::exp(values[j] - largest);
    sum += static_cast<double>(values[j]);
  }
  const C factor = static_cast<C>(1 / sum);
  for (int64_t j = 0; j < count; ++j) values[j] *= factor;
}

template <class C> void attend(const Problem<C>& problem) {
  const Sizes& sizes = problem.sizes;
  const int64_t tiles = (sizes.q_len + kTileRows - 1) / kTileRows;
  const int64_t group = sizes.q_heads / std::max<int64_t>(sizes.kv_heads, 1);
  const int64_t work = 1 + std::min(kTileRows, sizes.q_len) * sizes.kv_len * (sizes.head_size + sizes.v_head_size);
  parallel_for(sizes.batch * sizes.q_heads * tiles, 1 + 16 * 1024 / work, [&](int64_t first, int64_t last) {
    std::vector<C> scores(static_cast<size_t>(std::min(kTileRows, sizes.q_len) * sizes.kv_len));
    for (int64_t item = first; item < last; ++item) {
      const int64_t tile = item % tiles, h = item / tiles % sizes.q_heads, b = item / tiles / sizes.q_heads;
      const int64_t begin = tile * kTileRows, rows = std::min(kTileRows, sizes.q_len - begin);
      gemm(rows, sizes.kv_len, sizes.head_size, MatrixView<C>{problem.q.row(b, h, begin), problem.q.row_stride, 1},
           MatrixView<C>{problem.k.row(b, h / group, 0), 1, problem.k.row_stride}, scores.data(), sizes.kv_len);
      for (int64_t i = 0; i < rows; ++i) {
        C* qk = problem.qk ? problem.qk + ((b * sizes.q_heads + h) * sizes.q_len + begin + i) * sizes.kv_len : nullptr;
        finish_scores(problem, b, h, begin + i, scores.data() + i * sizes.kv_len, qk);
      }
      gemm(rows, sizes.v_head_size, sizes.kv_len, MatrixView<C>{scores.data(), sizes.kv_len, 1},
           MatrixView<C>{problem.v.row(b, h / group, 0), problem.v.row_stride, 1}, problem.y.row(b, h, begin),
           problem.y.row_stride);
    }
  });
}

template void softmax_row<float>(float*, int64_t, const float*);
template void softmax_row<double>(double*, int64_t, const double*);
template void attend<float>(const Problem<float>&);
template void attend<double>(const Problem<double>&);

}  // namespace attune::attention
