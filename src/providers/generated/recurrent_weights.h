// Weights and biases of LSTM and GRU layers in the order in which generated kernels read them.
#pragma once

#include "codegen/recurrent/layer.h"
#include "graph/tensor.h"

#include <span>
#include <vector>

namespace attune::generated {

/// What emit_recurrent says is prepared, from the constants among the operator's inputs.
std::vector<Tensor> packed_recurrent_weights(const codegen::RecurrentLayerText& layer,
                                             const codegen::RecurrentSchedule& schedule,
                                             std::span<const Tensor* const> constants);

}  // namespace attune::generated
