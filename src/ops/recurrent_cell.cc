#include "ops/recurrent_cell.h"

#include "base/parallel.h"
#include "ops/gemm.h"

#include <algorithm>
#include <cmath>

namespace attune::recurrent {
namespace {

/// dst = h * R[first_gate .. first_gate + gates)^T for the whole batch.
template <class C>
void recur(const CellSetup<C>& setup, const C* h, int64_t first_gate, int64_t gates, C* dst, int64_t dst_row_stride) {
  const C* weights = setup.recurrence + first_gate * setup.hidden * setup.hidden;
  gemm(setup.batch, gates * setup.hidden, setup.hidden, MatrixView<C>{h, setup.hidden, 1},
       MatrixView<C>{weights, 1, setup.hidden}, dst, dst_row_stride);
}

/// Calls body(row, projected) for the rows whose sequence goes on; a row costs about 8 * hidden transcendentals.
template <class C, class F> void each_row(const CellSetup<C>& setup, std::span<const C* const> projected, F body) {
  const int64_t grain = 1 + 1024 / (setup.hidden + 1);
  parallel_for(setup.batch, grain, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      if (const C* x = projected[static_cast<size_t>(b)]) body(b, x);
  });
}

template <class C> class RnnCell final : public Cell<C> {
 public:
  explicit RnnCell(const CellSetup<C>& setup)
      : setup_(setup), gates_(static_cast<size_t>(setup.batch * setup.hidden)) {}

  void step(std::span<const C* const> projected, CellState<C>& state) override {
    const int64_t hidden = setup_.hidden;
    recur(setup_, state.h.data(), 0, 1, gates_.data(), hidden);
    each_row(setup_, projected, [&](int64_t b, const C* x) {
      C* h = state.h.data() + b * hidden;
      const C* gate = gates_.data() + b * hidden;
      for (int64_t j = 0; j < hidden; ++j) h[j] = x[j] + gate[j];
      activate(setup_.activations[0], setup_.clip, h, hidden);
    });
  }

 private:
  CellSetup<C> setup_;
  std::vector<C> gates_;
};

template <class C> class GruCell final : public Cell<C> {
 public:
  explicit GruCell(const CellSetup<C>& setup)
      : setup_(setup),
        gates_(static_cast<size_t>(setup.batch * setup.hidden * 3)),
        reset_h_(static_cast<size_t>(setup.batch * setup.hidden)) {}

  void step(std::span<const C* const> projected, CellState<C>& state) override {
    const int64_t hidden = setup_.hidden, row = 3 * hidden;
    recur(setup_, state.h.data(), 0, setup_.linear_before_reset ? 3 : 2, gates_.data(), row);
    each_row(setup_, projected, [&](int64_t b, const C* x) {
      C* gate = gates_.data() + b * row;
      for (int64_t j = 0; j < 2 * hidden; ++j) gate[j] += x[j];
      activate(setup_.activations[0], setup_.clip, gate, 2 * hidden);
      const C* r = gate + hidden;
      const C* h = state.h.data() + b * hidden;
      C* reset = reset_h_.data() + b * hidden;
      for (int64_t j = 0; j < hidden; ++j) reset[j] = r[j] * h[j];
    });
    if (!setup_.linear_before_reset) recur(setup_, reset_h_.data(), 2, 1, gates_.data() + 2 * hidden, row);
    each_row(setup_, projected, [&](int64_t b, const C* x) {
      const C* z = gates_.data() + b * row;
      const C* r = z + hidden;
      C* candidate = gates_.data() + b * row + 2 * hidden;
      if (setup_.linear_before_reset)
        for (int64_t j = 0; j < hidden; ++j)
          candidate[j] = r[j] * (candidate[j] + (setup_.hidden_bias ? setup_.hidden_bias[j] : C(0)));
      for (int64_t j = 0; j < hidden; ++j) candidate[j] += x[2 * hidden + j];
      activate(setup_.activations[1], setup_.clip, candidate, hidden);
      C* h = state.h.data() + b * hidden;
      for (int64_t j = 0; j < hidden; ++j) h[j] = (C(1) - z[j]) * candidate[j] + z[j] * h[j];
    });
  }

 private:
  CellSetup<C> setup_;
  std::vector<C> gates_, reset_h_;
};

template <class C> class LstmCell final : public Cell<C> {
 public:
  explicit LstmCell(const CellSetup<C>& setup)
      : setup_(setup), gates_(static_cast<size_t>(setup.batch * setup.hidden * 4)) {}

  void step(std::span<const C* const> projected, CellState<C>& state) override {
    const int64_t hidden = setup_.hidden, row = 4 * hidden;
    if (setup_.quantized_state) {
      rounded_h_ = state.h;
      round_to_8_bits(rounded_h_.data(), setup_.batch * hidden);
    }
    recur(setup_, setup_.quantized_state ? rounded_h_.data() : state.h.data(), 0, 4, gates_.data(), row);
    each_row(setup_, projected, [&](int64_t b, const C* x) {
      C* gate = gates_.data() + b * row;
      for (int64_t j = 0; j < row; ++j) gate[j] += x[j];
      update(gate, state.h.data() + b * hidden, state.c.data() + b * hidden);
    });
  }

 private:
  void add_peephole(int64_t gate, const C* c, C* values) const {
    if (setup_.peephole == nullptr) return;
    const C* weights = setup_.peephole + gate * setup_.hidden;
    for (int64_t j = 0; j < setup_.hidden; ++j) values[j] += weights[j] * c[j];
  }

  void update(C* gates, C* h, C* c) const {
    const int64_t hidden = setup_.hidden;
    const auto& f_of = setup_.activations[0];
    C *i = gates, *o = gates + hidden, *f = gates + 2 * hidden, *g = gates + 3 * hidden;
    add_peephole(0, c, i);
    activate(f_of, setup_.clip, i, hidden);
    if (setup_.input_forget) {
      for (int64_t j = 0; j < hidden; ++j) f[j] = C(1) - i[j];
    } else {
      add_peephole(2, c, f);
      activate(f_of, setup_.clip, f, hidden);
    }
    activate(setup_.activations[1], setup_.clip, g, hidden);
    for (int64_t j = 0; j < hidden; ++j) c[j] = f[j] * c[j] + i[j] * g[j];
    add_peephole(1, c, o);  // the output gate looks at the new cell
    activate(f_of, setup_.clip, o, hidden);
    for (int64_t j = 0; j < hidden; ++j) h[j] = c[j];
    // ONNX Runtime does not clip the cell on its way out, and neither do models trained with it expect that.
    activate(setup_.activations[2], std::numeric_limits<C>::infinity(), h, hidden);
    for (int64_t j = 0; j < hidden; ++j) h[j] *= o[j];
  }

  CellSetup<C> setup_;
  std::vector<C> gates_, rounded_h_;
};

}  // namespace

template <class C> void round_to_8_bits(C* values, int64_t count) {
  if (count == 0) return;
  const auto [low, high] = std::minmax_element(values, values + count);
  const C least = std::min(*low, C(0)), most = std::max(*high, C(0));
  const C scale = most == least ? C(1) : (most - least) / C(255);
  const C zero = std::clamp(std::nearbyint(-least / scale), C(0), C(255));
  for (int64_t i = 0; i < count; ++i)
    values[i] = (std::clamp(std::nearbyint(values[i] / scale) + zero, C(0), C(255)) - zero) * scale;
}

template void round_to_8_bits<float>(float*, int64_t);
template void round_to_8_bits<double>(double*, int64_t);

template <class C> std::unique_ptr<Cell<C>> make_cell(CellKind kind, const CellSetup<C>& setup) {
  switch (kind) {
    case CellKind::rnn: return std::make_unique<RnnCell<C>>(setup);
    case CellKind::gru: return std::make_unique<GruCell<C>>(setup);
    case CellKind::lstm: return std::make_unique<LstmCell<C>>(setup);
  }
  return nullptr;
}

template std::unique_ptr<Cell<float>> make_cell(CellKind, const CellSetup<float>&);
template std::unique_ptr<Cell<double>> make_cell(CellKind, const CellSetup<double>&);

}  // namespace attune::recurrent
