// One time step of RNN, GRU and LSTM for a batch.
#pragma once

#include "ops/recurrent_activation.h"

#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace attune::recurrent {

enum class CellKind : uint8_t { rnn, gru, lstm };

inline int64_t gate_count(CellKind kind) { return kind == CellKind::rnn ? 1 : kind == CellKind::gru ? 3 : 4; }
inline int64_t activation_count(CellKind kind) { return kind == CellKind::rnn ? 1 : kind == CellKind::gru ? 2 : 3; }

/// Weights and settings of one direction. Gates lie in ONNX order: GRU z r h, LSTM i o f c.
template <class C> struct CellSetup {
  int64_t batch = 0;
  int64_t hidden = 0;
  const C* recurrence = nullptr;   // gates * hidden rows of hidden
  const C* hidden_bias = nullptr;  // GRU that is linear before reset: recurrence bias of the h gate, else nullptr
  const C* peephole = nullptr;     // LSTM: i o f, or nullptr
  std::span<const Activation> activations;
  C clip = std::numeric_limits<C>::infinity();
  bool linear_before_reset = false;
  bool input_forget = false;
  bool quantized_state = false;  // LSTM: the hidden state is rounded to 8 bits before each product with the recurrence
};

/// The state of one direction: hidden and, for LSTM, cell, both batch x hidden.
template <class C> struct CellState { std::vector<C> h, c; };

/// Rounds values to 256 steps between their extremes, zero among them, as a dynamic quantization to u8 and back does.
template <class C> void round_to_8_bits(C* values, int64_t count);

template <class C> class Cell {
 public:
  virtual ~Cell() = default;
  /// projected[b] holds W*x and the biases of row b for this step, nullptr when its sequence has ended; the state of
  /// such a row stays as it is.
  virtual void step(std::span<const C* const> projected, CellState<C>& state) = 0;
};

template <class C> std::unique_ptr<Cell<C>> make_cell(CellKind kind, const CellSetup<C>& setup);

}  // namespace attune::recurrent
