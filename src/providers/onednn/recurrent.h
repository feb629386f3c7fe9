// What the recurrent families share: dims, and weights and results between ONNX's order and the library's.
#pragma once

#include "kernel/workload.h"
#include "ops/context.h"
#include "providers/onednn/primitive_kernel.h"

namespace attune::onednn {

struct RecurrentDims {
  int64_t steps, batch, input_size, hidden, directions;
  dnnl::rnn_direction direction;

  /// Of inputs X, W and R at positions 0 to 2. Throws UnsupportedError for other ranks and for batch-first tensors.
  RecurrentDims(const Workload& workload, const OpContext& context);
  Dims state() const { return {1, directions, batch, hidden}; }
  Dims sequence() const { return {steps, batch, directions * hidden}; }
};

/// Throws UnsupportedError unless weights and bias are constant and no sequence lengths are given.
void require_plain_recurrence(const Workload& workload, const OpContext& context);

/// Whether attribute 'activations' is absent or names, for each direction, these.
bool has_activations(const OpContext& context, std::span<const std::string_view> names);

/// [directions, gates * hidden, inputs] → [1, directions, inputs, gates, hidden]; `order[g]` is ONNX's place of gate g.
Tensor gates_last(const Tensor& weights, int64_t hidden, std::span<const int64_t> order);

/// W and R (inputs 1 and 2) packed ahead of time, as prepared tensors 0 and 1.
void pack_weights(PrimitiveProgram& program, const RecurrentDims& dims, std::span<const int64_t> order,
                  const dnnl::memory::desc& layer, const dnnl::memory::desc& iteration);

/// The sum of ONNX's two biases (input 3) for each gate, zero without one, as the next prepared tensor.
void pack_summed_bias(PrimitiveProgram& program, const Workload& workload, const RecurrentDims& dims,
                      std::span<const int64_t> order);

/// An output of the operator, or a temporary where the node omits it.
Argument result_argument(int id, const dnnl::memory::desc& desc, const Workload& workload, size_t output,
                         PrimitiveProgram& program);

/// Ends the program with the primitive and, where the library's order of directions is not ONNX's, a reorder of the
/// sequence into output 0.
void append_recurrence(PrimitiveProgram& program, const Workload& workload, const RecurrentDims& dims,
                       dnnl::primitive primitive, std::vector<Argument> arguments);

}  // namespace attune::onednn
