// RNN, GRU and LSTM over whole sequences, open to operators that only store their weights differently.
#pragma once

#include "ops/recurrent_cell.h"

namespace attune::recurrent {

enum class Direction : uint8_t { forward, reverse, bidirectional };

struct SequenceSetup {
  CellKind kind = CellKind::rnn;
  Direction direction = Direction::forward;
  bool batch_first = false;  // attribute layout
  std::vector<Activation> activations;
  float clip = std::numeric_limits<float>::infinity();
  bool linear_before_reset = false;
  bool input_forget = false;
  bool quantized_state = false;  // see CellSetup

  int64_t directions() const { return direction == Direction::bidirectional ? 2 : 1; }
};

/// Reads the attributes that the three operators share, and checks them.
SequenceSetup read_setup(const OpContext& context, CellKind kind);

/// Where each operand stands among the inputs of the node; -1: the operator has none.
struct InputSlots {
  int x = 0, w = 1, r = 2, bias = 3, lengths = 4, h = 5, c = -1, peephole = -1;
};

/// W and R are [directions, gates * hidden, size], or [directions, size, gates * hidden].
enum class WeightOrder : uint8_t { gates_first, gates_last };

/// Checks the ranks and dims that are known and sets the types of Y, Y_h and Y_c.
void infer_sequence(InferContext& context, CellKind kind, const InputSlots& slots, WeightOrder order);

/// The operands that some operators store in another way than the inputs of RNN, GRU and LSTM.
struct SequenceOperands {
  Tensor x;  // as the layout has it
  Tensor w;  // [directions, gates * hidden, input]
  Tensor r;  // [directions, gates * hidden, hidden]
};

/// Computes Y, Y_h and Y_c, as far as wanted; the operands not given here are inputs of the node.
void run_sequence(KernelContext& context, const SequenceSetup& setup, const InputSlots& slots,
                  const SequenceOperands& operands);

}  // namespace attune::recurrent
