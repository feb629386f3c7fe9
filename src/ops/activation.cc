// Activation functions.
#include "ops/activation_clip.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/integer_math.h"

#include <cmath>

namespace attune {
namespace {

void infer_float(InferContext& context) {
  require_plain_float(context, 0);
  context.copy_type(0, 0);
}

void infer_numeric(InferContext& context) {
  require_plain_numeric(context, 0);
  context.copy_type(0, 0);
}

template <class T> T sigmoid(T x) { return T{1} / (T{1} + std::exp(-x)); }
template <class T> T softplus(T x) {  // log(1 + e^x) without overflow
  return std::max(x, T{0}) + std::log1p(std::exp(-std::fabs(x)));
}
template <class T> T swish(T x, T alpha) { return x * sigmoid(alpha * x); }

void relu_kernel(KernelContext& context) {
  dispatch<NumericTypes>(context.input(0).dtype(), context,
                         [&]<class T>() { map_unary<T>(context, [](auto x) { return x < 0 ? decltype(x){0} : x; }); });
}

void leaky_relu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 0.01f);
  map_floats(context, [alpha]<class T>(T x) { return x < 0 ? static_cast<T>(alpha) * x : x; });
}

void elu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.0f);
  map_floats(context, [alpha]<class T>(T x) { return x < 0 ? static_cast<T>(alpha) * std::expm1(x) : x; });
}

void celu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.0f);
  map_floats(context, [alpha]<class T>(T x) {
    const auto a = static_cast<T>(alpha);
    return std::max(x, T{0}) + std::min(a * std::expm1(x / a), T{0});
  });
}

void selu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.67326319217681884765625f);
  const float gamma = context.attr_float("gamma", 1.05070102214813232421875f);
  map_floats(context,
             [=]<class T>(T x) { return static_cast<T>(gamma) * (x > 0 ? x : static_cast<T>(alpha) * std::expm1(x)); });
}

void infer_gelu(InferContext& context) {
  infer_float(context);
  const std::string approximate = context.attr_string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    context.fail("attribute 'approximate' is '{}', expected none or tanh", approximate);
}

void gelu_kernel(KernelContext& context) {
  if (context.attr_string("approximate", "none") == "tanh") {
    map_floats(context, []<class T>(T x) {
      constexpr T root = T(0.79788456080286535588);  // sqrt(2 / pi)
      return T(0.5) * x * (T{1} + std::tanh(root * (x + T(0.044715) * x * x * x)));
    });
    return;
  }
  map_floats(context, []<class T>(T x) { return T(0.5) * x * (T{1} + std::erf(x * T(0.70710678118654752440))); });
}

void hard_sigmoid_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 0.2f);
  const float beta = context.attr_float("beta", 0.5f);
  map_floats(context,
             [=]<class T>(T x) { return std::clamp(static_cast<T>(alpha) * x + static_cast<T>(beta), T{0}, T{1}); });
}

void hard_swish_kernel(KernelContext& context) {
  map_floats(context, []<class T>(T x) { return x * std::clamp(x / T{6} + T(0.5), T{0}, T{1}); });
}

void mish_kernel(KernelContext& context) {
  map_floats(context, [](auto x) { return x * std::tanh(softplus(x)); });
}

void sigmoid_kernel(KernelContext& context) {
  map_floats(context, [](auto x) { return sigmoid(x); });
}

void softplus_kernel(KernelContext& context) {
  map_floats(context, [](auto x) { return softplus(x); });
}

void softsign_kernel(KernelContext& context) {
  map_floats(context, []<class T>(T x) { return x / (T{1} + std::fabs(x)); });
}

void swish_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.0f);
  map_floats(context, [alpha]<class T>(T x) { return swish(x, static_cast<T>(alpha)); });
}

void thresholded_relu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.0f);
  map_floats(context, [alpha]<class T>(T x) { return x > static_cast<T>(alpha) ? x : T{0}; });
}

void infer_swiglu(InferContext& context) {
  require_plain_float(context, 0);
  const DType dtype = shared_dtype(context, 0, 2);
  const auto& gate = context.shape(0);
  const auto& linear = context.shape(1);
  std::optional<Shape> shape = gate ? gate : linear;
  if (gate && linear) {
    if (gate->size() != linear->size())
      context.fail("inputs of shape {} and {} must have one shape", to_text(*gate), to_text(*linear));
    for (size_t i = 0; i < shape->size(); ++i) {
      const Dim &a = (*gate)[i], &b = (*linear)[i];
      if (a.is_known() && b.is_known() && a.value() != b.value())
        context.fail("inputs of shape {} and {} must have one shape", to_text(*gate), to_text(*linear));
      (*shape)[i] = a.is_unknown() || b.is_known() ? b : a;
    }
  }
  context.set_output(0, dtype, std::move(shape));
}

void swiglu_kernel(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.0f);
  dispatch<FloatTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_binary<T, T, T>(context.input(0), context.input(1), context.output(0),
                        [alpha]<class C>(C gate, C linear) { return swish(gate, static_cast<C>(alpha)) * linear; });
  });
}

/// The slope broadcasts to the input, never the other way round.
void infer_prelu(InferContext& context) {
  require_plain_numeric(context, 0);
  shared_dtype(context, 0, 2);
  const auto joint = broadcast_inputs(context, 0, 2);
  const auto& src = context.shape(0);
  if (joint && src) {
    bool grows = joint->size() != src->size();
    for (size_t i = 0; i < src->size() && !grows; ++i)
      grows = (*src)[i].is_known() && (*joint)[i].is_known() && (*src)[i].value() != (*joint)[i].value();
    if (grows)
      context.fail("a slope of shape {} does not broadcast to an input of {}", to_text(context.shape(1)),
                   to_text(*src));
  }
  context.copy_type(0, 0);
}

void prelu_kernel(KernelContext& context) {
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_binary<T, T, T>(context.input(0), context.input(1), context.output(0), []<class C>(C x, C slope) {
      if constexpr (std::is_integral_v<C>)
        return x < 0 ? wrapping_mul(x, slope) : x;
      else
        return x < 0 ? x * slope : x;
    });
  });
}

OpDef activation(std::string_view name, int since, void (*infer)(InferContext&), void (*kernel)(KernelContext&),
                 Arity inputs = {1, 1}) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = inputs,
          .outputs = {1, 1},
          .layout_class = LayoutClass::irrelevant,
          .infer = infer,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> activation_ops() {
  static const OpDef ops[] = {
      activation("Celu", 12, infer_float, celu_kernel),
      activation("Clip", 1, infer_clip, clip_kernel, {1, 3}),
      activation("Elu", 1, infer_float, elu_kernel),
      activation("Gelu", 20, infer_gelu, gelu_kernel),
      activation("HardSigmoid", 1, infer_float, hard_sigmoid_kernel),
      activation("HardSwish", 14, infer_float, hard_swish_kernel),
      activation("LeakyRelu", 1, infer_float, leaky_relu_kernel),
      activation("Mish", 18, infer_float, mish_kernel),
      activation("PRelu", 1, infer_prelu, prelu_kernel, {2, 2}),
      activation("Relu", 1, infer_numeric, relu_kernel),
      activation("Selu", 1, infer_float, selu_kernel),
      activation("Shrink", 9, infer_numeric, shrink_kernel),
      activation("Sigmoid", 1, infer_float, sigmoid_kernel),
      activation("Softplus", 1, infer_float, softplus_kernel),
      activation("Softsign", 1, infer_float, softsign_kernel),
      activation("SwiGLU", 28, infer_swiglu, swiglu_kernel, {2, 2}),
      activation("Swish", 24, infer_float, swish_kernel),
      activation("ThresholdedRelu", 10, infer_float, thresholded_relu_kernel),
  };
  return ops;
}

}  // namespace attune
