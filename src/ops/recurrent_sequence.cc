// The walk over time of RNN, GRU and LSTM: projects the whole input at once, then steps each direction.
#include "base/parallel.h"
#include "ops/empty_outputs.h"
#include "ops/gemm.h"
#include "ops/recurrent.h"
#include "ops/widen.h"

#include <algorithm>

namespace attune::recurrent {
namespace {

/// Sizes and the places of rows, which the attribute layout decides.
struct Geometry {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, gates = 0, directions = 0;
  bool batch_first = false;

  int64_t x_row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  int64_t state_row(int64_t d, int64_t b) const { return batch_first ? b * directions + d : d * batch + b; }
};

std::vector<int64_t> sequence_lengths(const KernelContext& context, int slot, const Geometry& geometry) {
  if (!context.has_input(slot)) return std::vector<int64_t>(static_cast<size_t>(geometry.batch), geometry.steps);
  std::vector<int64_t> lengths = context.ints(slot);
  for (const int64_t length : lengths)
    if (length < 0 || length > geometry.steps)
      context.fail("sequence_lens holds {}, expected 0 to {}", length, geometry.steps);
  return lengths;
}

template <class C> class SequenceRun {
 public:
  SequenceRun(KernelContext& context, const SequenceSetup& setup, const InputSlots& slots,
              const SequenceOperands& operands)
      : context_(context),
        setup_(setup),
        slots_(slots),
        x_(widened<C>(operands.x, context)),
        w_(widened<C>(operands.w, context)),
        r_(widened<C>(operands.r, context)) {
    geometry_.batch_first = setup.batch_first;
    geometry_.steps = x_.dim(setup.batch_first ? 1 : 0);
    geometry_.batch = x_.dim(setup.batch_first ? 0 : 1);
    geometry_.input = x_.dim(2);
    geometry_.gates = gate_count(setup.kind);
    geometry_.directions = setup.directions();
    geometry_.hidden = r_.dim(2);
    // First of all, because it also refuses sizes that are too large for anything below.
    projected_ =
        Tensor::allocate(dtype_of<C>(), {geometry_.steps, geometry_.batch, geometry_.gates * geometry_.hidden});
    lengths_ = sequence_lengths(context, slots.lengths, geometry_);
    bias_ = optional_input(slots.bias);
    peephole_ = optional_input(slots.peephole);
    first_h_ = optional_input(slots.h);
    first_c_ = optional_input(slots.c);
    if (context.wants_output(0)) y_ = Tensor::zeros(dtype_of<C>(), context.output(0).dims());
    const Dims states = {geometry_.directions * geometry_.batch, geometry_.hidden};
    last_h_ = Tensor::zeros(dtype_of<C>(), states);
    last_c_ = Tensor::zeros(dtype_of<C>(), states);
  }

  void run() {
    for (int64_t d = 0; d < geometry_.directions; ++d) run_direction(d);
    if (context_.wants_output(0)) store_rounded(y_, context_.output(0));
    if (context_.wants_output(1)) store_rounded(last_h_, context_.output(1));
    if (context_.wants_output(2)) store_rounded(last_c_, context_.output(2));
  }

 private:
  Tensor optional_input(int slot) const {
    return slot >= 0 && context_.has_input(slot) ? widened<C>(context_.input(slot), context_) : Tensor();
  }

  /// The part of a [directions, ...] operand that belongs to direction d; nullptr when it is omitted.
  static const C* part(const Tensor& tensor, int64_t d) {
    return tensor.empty() ? nullptr : tensor.data<C>() + d * (tensor.count() / tensor.dim(0));
  }

  /// projected = X * W^T plus the biases that are simply added.
  void project(int64_t d, const C* bias) {
    const int64_t width = geometry_.gates * geometry_.hidden;
    const int64_t rows = geometry_.steps * geometry_.batch;
    C* dst = projected_.mutable_data<C>();
    gemm(rows, width, geometry_.input, MatrixView<C>{x_.data<C>(), geometry_.input, 1},
         MatrixView<C>{part(w_, d), 1, geometry_.input}, dst, width);
    if (bias == nullptr) return;
    std::vector<C> sum(bias, bias + width);
    const int64_t added = setup_.linear_before_reset ? width - geometry_.hidden : width;
    for (int64_t j = 0; j < added; ++j) sum[static_cast<size_t>(j)] += bias[width + j];
    parallel_for(rows, 1 + 16 * 1024 / (width + 1), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < width; ++j) dst[row * width + j] += sum[static_cast<size_t>(j)];
    });
  }

  CellState<C> first_state(int64_t d) const {
    const auto size = static_cast<size_t>(geometry_.batch * geometry_.hidden);
    CellState<C> state{std::vector<C>(size, C(0)), std::vector<C>(size, C(0))};
    for (int64_t b = 0; b < geometry_.batch; ++b) {
      const int64_t from = geometry_.state_row(d, b) * geometry_.hidden, to = b * geometry_.hidden;
      if (!first_h_.empty()) std::copy_n(first_h_.data<C>() + from, geometry_.hidden, state.h.begin() + to);
      if (!first_c_.empty()) std::copy_n(first_c_.data<C>() + from, geometry_.hidden, state.c.begin() + to);
    }
    return state;
  }

  void run_direction(int64_t d) {
    const int64_t hidden = geometry_.hidden, width = geometry_.gates * hidden;
    const C* bias = part(bias_, d);
    project(d, bias);
    CellSetup<C> cell_setup;
    cell_setup.batch = geometry_.batch;
    cell_setup.hidden = hidden;
    cell_setup.recurrence = part(r_, d);
    if (setup_.linear_before_reset && bias != nullptr) cell_setup.hidden_bias = bias + 2 * width - hidden;
    cell_setup.peephole = part(peephole_, d);
    const auto functions = static_cast<size_t>(activation_count(setup_.kind));
    cell_setup.activations = std::span(setup_.activations).subspan(static_cast<size_t>(d) * functions, functions);
    cell_setup.clip = static_cast<C>(setup_.clip);
    cell_setup.linear_before_reset = setup_.linear_before_reset;
    cell_setup.input_forget = setup_.input_forget;
    cell_setup.quantized_state = setup_.quantized_state;
    const auto cell = make_cell(setup_.kind, cell_setup);

    const bool reverse = setup_.direction == Direction::reverse || d == 1;
    CellState<C> state = first_state(d);
    std::vector<const C*> rows(static_cast<size_t>(geometry_.batch));
    const int64_t longest = lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
    for (int64_t step = 0; step < longest; ++step) {
      for (int64_t b = 0; b < geometry_.batch; ++b)
        rows[static_cast<size_t>(b)] =
            step < length(b) ? projected_.data<C>() + geometry_.x_row(time(step, b, reverse), b) * width : nullptr;
      cell->step(rows, state);
      if (y_.empty()) continue;
      for (int64_t b = 0; b < geometry_.batch; ++b)
        if (step < length(b))
          std::copy_n(state.h.begin() + b * hidden, hidden,
                      y_.mutable_data<C>() + geometry_.y_row(time(step, b, reverse), d, b) * hidden);
    }
    keep_last(d, state);
  }

  int64_t length(int64_t b) const { return lengths_[static_cast<size_t>(b)]; }
  /// A sequence that is read backwards starts at its own end, not at the padding.
  int64_t time(int64_t step, int64_t b, bool reverse) const { return reverse ? length(b) - 1 - step : step; }

  void keep_last(int64_t d, const CellState<C>& state) {
    for (int64_t b = 0; b < geometry_.batch; ++b) {
      if (length(b) == 0) continue;  // stays zero, as in ONNX Runtime
      const int64_t from = b * geometry_.hidden, to = geometry_.state_row(d, b) * geometry_.hidden;
      std::copy_n(state.h.begin() + from, geometry_.hidden, last_h_.mutable_data<C>() + to);
      std::copy_n(state.c.begin() + from, geometry_.hidden, last_c_.mutable_data<C>() + to);
    }
  }

  KernelContext& context_;
  const SequenceSetup& setup_;
  InputSlots slots_;
  Tensor x_, w_, r_;
  Geometry geometry_;
  std::vector<int64_t> lengths_;
  Tensor bias_, peephole_, first_h_, first_c_;
  Tensor projected_, y_, last_h_, last_c_;
};

}  // namespace

void run_sequence(KernelContext& context, const SequenceSetup& setup, const InputSlots& slots,
                  const SequenceOperands& operands) {
  if (all_outputs_empty(context)) return;
  dispatch_compute(operands.x.dtype(), context,
                   [&]<class C>() { SequenceRun<C>(context, setup, slots, operands).run(); });
}

}  // namespace attune::recurrent
