// DeformConv and CausalConvWithState.
#include "ops/conv_float.h"
#include "ops/conv_special_deform.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/wide_tensor.h"

#include <cmath>
#include <cstring>

namespace attune {
namespace {

enum class Activation { none, silu };

Activation read_activation(const OpContext& context) {
  const std::string text = context.attr_string("activation", "none");
  if (text == "none" || text.empty()) return Activation::none;
  if (text == "silu" || text == "swish") return Activation::silu;
  context.fail("activation is '{}', expected none, silu or swish", text);
}

void check_dim(const OpContext& context, std::string_view what, const Dim& actual, const Dim& expected) {
  if (actual.is_known() && expected.is_known() && actual.value() != expected.value())
    context.fail("{} is {}, expected {}", what, actual.value(), expected.value());
}

void infer_causal_conv(InferContext& context) {
  read_activation(context);
  const DType dtype = context.dtype(0);
  const auto &src = context.shape(0), &weights = context.shape(1);
  for (int i = 1; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (context.dtype(i) != dtype && context.dtype(i) != DType::undefined)
      context.fail("inputs 0 and {} have different dtypes", i);
  }
  if (src && src->size() != 3) context.fail("input has rank {}, expected (N, C, length)", src->size());
  if (weights && weights->size() != 3) context.fail("weight has rank {}, expected (C, 1, k)", weights->size());
  if (weights) {
    check_dim(context, "dim 1 of weight", (*weights)[1], 1);
    if ((*weights)[2].is_known() && (*weights)[2].value() < 1) context.fail("weight has an empty kernel");
    if (src) check_dim(context, "dim 0 of weight", (*weights)[0], (*src)[1]);
  }
  Shape state(3);
  if (src) state[0] = (*src)[0], state[1] = (*src)[1];
  if (weights) state[2] = (*weights)[2] - Dim(1);
  if (context.has_input(2) && context.shape(2)) {
    if (context.shape(2)->size() != 1) context.fail("bias has rank {}, expected 1", context.shape(2)->size());
    check_dim(context, "dim 0 of bias", (*context.shape(2))[0], state[1]);
  }
  if (context.has_input(3) && context.shape(3)) {
    const Shape& past = *context.shape(3);
    if (past.size() != 3) context.fail("past_state has rank {}, expected 3", past.size());
    for (size_t i = 0; i < 3; ++i) check_dim(context, "a dim of past_state", past[i], state[i]);
  }
  context.set_output(0, dtype, src);
  context.set_output(1, dtype, std::move(state));
}

/// Each channel of the result: the state, then the new elements.
Tensor prepend_state(const Tensor* past, const Tensor& src, int64_t state_length) {
  const int64_t length = src.dim(2);
  Tensor joined = Tensor::zeros(src.dtype(), {src.dim(0), src.dim(1), state_length + length});
  const int64_t element = bit_width(src.dtype()) / 8;
  for (int64_t row = 0; row < src.dim(0) * src.dim(1); ++row) {
    std::byte* out = joined.mutable_bytes() + row * (state_length + length) * element;
    if (past != nullptr)
      std::memcpy(out, past->bytes() + row * state_length * element, static_cast<size_t>(state_length * element));
    std::memcpy(out + state_length * element, src.bytes() + row * length * element,
                static_cast<size_t>(length * element));
  }
  return joined;
}

void run_causal_conv(KernelContext& context) {
  const Tensor src = context.input(0), weights = widened(context.input(1));
  const Tensor bias = context.has_input(2) ? widened(context.input(2)) : Tensor();
  const int64_t channels = src.dim(1), length = src.dim(2), kernel = weights.dim(2), state_length = kernel - 1;
  const Tensor joined = prepend_state(context.has_input(3) ? &context.input(3) : nullptr, src, state_length);
  const int64_t total = state_length + length;
  if (context.wants_output(1)) {
    Tensor& state = context.output(1);
    const int64_t element = bit_width(src.dtype()) / 8;
    for (int64_t row = 0; row < src.dim(0) * channels; ++row)
      std::memcpy(state.mutable_bytes() + row * state_length * element,
                  joined.bytes() + (row * total + length) * element, static_cast<size_t>(state_length * element));
  }
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor wide = widened(joined);
  Tensor dst = wide_output(output);
  const ConvGeometry geometry{.batch = src.dim(0),
                              .groups = channels,
                              .in_channels = 1,
                              .out_channels = 1,
                              .axes = {{.in = total, .out = length, .kernel = kernel}}};
  const Activation activation = read_activation(context);
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    T* out = dst.mutable_data<T>();
    convolve(geometry, wide.data<T>(), weights.data<T>(), bias.empty() ? nullptr : bias.data<T>(), out);
    if (activation == Activation::silu)
      for (int64_t i = 0; i < dst.count(); ++i) out[i] = out[i] / (T{1} + std::exp(-out[i]));
  });
  narrow(dst, output);
}

double causal_conv_flops(const CostContext& context) {
  const Dims weights = context.input_dims(1);
  return weights.size() == 3 ? 2.0 * context.output_elements(0) * static_cast<double>(weights[2]) : 0;
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "DeformConv",
     .since = 19,
     .inputs = {3, 5},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_deform_conv,
     .kernel = run_deform_conv,
     .flops = deform_conv_flops},
    {.domain = "",
     .name = "CausalConvWithState",
     .since = 27,
     .inputs = {2, 4},
     .outputs = {1, 2},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_causal_conv,
     .kernel = run_causal_conv,
     .flops = causal_conv_flops},
};

}  // namespace

std::span<const OpDef> conv_special_ops() { return kOps; }

}  // namespace attune
