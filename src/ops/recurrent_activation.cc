#include "ops/recurrent_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace attune::recurrent {
namespace {

struct FunctionInfo {
  std::string_view name;  // lower case: exporters disagree about the case
  Function function;
  bool uses_alpha, uses_beta;
  double alpha, beta;  // used when the attributes do not say
};

constexpr FunctionInfo kFunctions[] = {
    {"relu", Function::relu, false, false, 0, 0},
    {"tanh", Function::tanh, false, false, 0, 0},
    {"sigmoid", Function::sigmoid, false, false, 0, 0},
    {"affine", Function::affine, true, true, 1, 0},
    {"leakyrelu", Function::leaky_relu, true, false, 0.01, 0},
    {"thresholdedrelu", Function::thresholded_relu, true, false, 1, 0},
    {"scaledtanh", Function::scaled_tanh, true, true, 1, 1},
    {"hardsigmoid", Function::hard_sigmoid, true, true, 0.2, 0.5},
    {"elu", Function::elu, true, false, 1, 0},
    {"softsign", Function::softsign, false, false, 0, 0},
    {"softplus", Function::softplus, false, false, 0, 0},
};

const FunctionInfo& info_of(std::string_view name, const OpContext& context) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const FunctionInfo& info : kFunctions)
    if (info.name == lower) return info;
  context.fail("activation function '{}' is not known", name);
}

template <class C, class F> void apply(C clip, C* values, int64_t count, F f) {
  if (clip == std::numeric_limits<C>::infinity()) {
    for (int64_t i = 0; i < count; ++i) values[i] = f(values[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) values[i] = f(std::min(std::max(values[i], -clip), clip));
}

}  // namespace

std::vector<Activation> activations_of(const OpContext& context, size_t count,
                                       std::span<const std::string_view> defaults) {
  std::vector<std::string_view> names;
  if (context.has_attr("activations")) {
    const auto& given = context.attr_strings("activations");
    names.assign(given.begin(), given.end());
  } else {
    for (size_t i = 0; i < count; ++i) names.push_back(defaults[i % defaults.size()]);
  }
  if (names.size() != count) context.fail("attribute 'activations' has {} names, expected {}", names.size(), count);
  const std::vector<float> alphas = context.attr_floats("activation_alpha", {});
  const std::vector<float> betas = context.attr_floats("activation_beta", {});
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> result;
  for (const std::string_view name : names) {
    const FunctionInfo& info = info_of(name, context);
    Activation activation{info.function, info.alpha, info.beta};
    if (info.uses_alpha && next_alpha < alphas.size()) activation.alpha = static_cast<double>(alphas[next_alpha++]);
    if (info.uses_beta && next_beta < betas.size()) activation.beta = static_cast<double>(betas[next_beta++]);
    result.push_back(activation);
  }
  return result;
}

Activation activation_named(std::string_view name, std::optional<float> alpha, std::optional<float> beta,
                            const OpContext& context) {
  const FunctionInfo& info = info_of(name, context);
  return {info.function, alpha ? static_cast<double>(*alpha) : info.alpha,
          beta ? static_cast<double>(*beta) : info.beta};
}

template <class C> void activate(const Activation& activation, C clip, C* values, int64_t count) {
  const C alpha = static_cast<C>(activation.alpha), beta = static_cast<C>(activation.beta);
  const C zero = 0, one = 1;
  switch (activation.function) {
    case Function::relu: return apply(clip, values, count, [=](C x) { return x > zero ? x : zero; });
    case Function::tanh: return apply(clip, values, count, [](C x) { return std::tanh(x); });
    case Function::sigmoid: return apply(clip, values, count, [=](C x) { return one / (one + std::exp(-x)); });
    case Function::affine: return apply(clip, values, count, [=](C x) { return alpha * x + beta; });
    case Function::leaky_relu: return apply(clip, values, count, [=](C x) { return x >= zero ? x : alpha * x; });
    case Function::thresholded_relu: return apply(clip, values, count, [=](C x) { return x > alpha ? x : zero; });
    case Function::scaled_tanh: return apply(clip, values, count, [=](C x) { return alpha * std::tanh(beta * x); });
    case Function::hard_sigmoid:
      return apply(clip, values, count, [=](C x) { return std::min(std::max(alpha * x + beta, zero), one); });
    case Function::elu: return apply(clip, values, count, [=](C x) { return x >= zero ? x : alpha * std::expm1(x); });
    case Function::softsign: return apply(clip, values, count, [=](C x) { return x / (one + std::abs(x)); });
    case Function::softplus:
      return apply(clip, values, count, [=](C x) { return std::max(x, zero) + std::log1p(std::exp(-std::abs(x))); });
  }
}

template void activate<float>(const Activation&, float, float*, int64_t);
template void activate<double>(const Activation&, double, double*, int64_t);

}  // namespace attune::recurrent
