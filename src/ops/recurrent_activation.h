// The activation functions that RNN, GRU and LSTM take by name.
#pragma once

#include "ops/context.h"

#include <string_view>
#include <vector>

namespace attune::recurrent {

enum class Function : uint8_t {
  relu,
  tanh,
  sigmoid,
  affine,
  leaky_relu,
  thresholded_relu,
  scaled_tanh,
  hard_sigmoid,
  elu,
  softsign,
  softplus,
};

struct Activation {
  Function function = Function::tanh;
  double alpha = 0;
  double beta = 0;
};

/// The activations of a node, `count` of them, from its attributes or, when they are missing, `defaults` repeated.
/// The values of activation_alpha and activation_beta go in order to the functions that use them.
std::vector<Activation> activations_of(const OpContext& context, size_t count,
                                       std::span<const std::string_view> defaults);

/// The function of that name, in any case, with its default alpha and beta where none is given.
Activation activation_named(std::string_view name, std::optional<float> alpha, std::optional<float> beta,
                            const OpContext& context);

/// values[i] = f(values[i]), each clipped to [-clip, clip] first.
template <class C> void activate(const Activation& activation, C clip, C* values, int64_t count);

}  // namespace attune::recurrent
