// Gelu, BiasGelu, FastGelu, QuickGelu, BiasAdd.
#include "base/parallel.h"
#include "ops/contrib_math.h"
#include "ops/dispatch.h"

#include <cmath>
#include <numbers>

namespace attune::contrib {
namespace {

/// y = f(x + bias), the bias repeated over rows; rows of the last axis go to threads.
template <class F> void run_biased(KernelContext& context, F f) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const bool biased = context.has_input(1);
  const int64_t width = src.rank() == 0 ? 1 : src.dim(src.rank() - 1);
  if (src.count() == 0) return;
  if (biased && context.input(1).dtype() != src.dtype()) context.fail("the bias must have the dtype of the input");
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    const T* x = src.data<T>();
    const T* bias = biased ? context.input(1).data<T>() : nullptr;
    T* y = dst.mutable_data<T>();
    parallel_for(src.count() / width, 1 + 2 * 1024 / width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < width; ++j) {
          const int64_t i = row * width + j;
          C value = static_cast<C>(x[i]);
          if (bias != nullptr) value += static_cast<C>(bias[j]);
          y[i] = T(f(value));
        }
    });
  });
}

void check_bias(const InferContext& context, int i) {
  if (!context.has_input(i) || !context.shape(i) || !context.shape(0)) return;
  const Shape& bias = *context.shape(i);
  const Shape& src = *context.shape(0);
  const bool fits = bias.size() == 1 && !src.empty() &&
                    (!bias[0].is_known() || !src.back().is_known() || bias[0].value() == src.back().value());
  if (!fits) context.fail("the bias {} does not fit rows of {}", to_text(bias), to_text(src));
}

}  // namespace

void infer_biased(InferContext& context) {
  check_bias(context, 1);
  context.copy_type(0, 0);
}

void run_gelu(KernelContext& context) {
  run_biased(context,
             []<class C>(C x) { return C(0.5) * x * (C(1) + std::erf(x * static_cast<C>(1 / std::numbers::sqrt2))); });
}

void run_fast_gelu(KernelContext& context) {
  run_biased(context, []<class C>(C x) {
    const C inner = x * (C(0.7978845608028654) + C(0.035677408136300125) * x * x);
    return C(0.5) * x * (C(1) + std::tanh(inner));
  });
}

void run_quick_gelu(KernelContext& context) {
  const float alpha = context.attr_float("alpha", 1.702f);
  run_biased(context, [alpha]<class C>(C x) { return x / (C(1) + std::exp(-static_cast<C>(alpha) * x)); });
}

void infer_bias_add(InferContext& context) {
  check_bias(context, 1);
  context.copy_type(0, 0);
  if (!context.shape(0) || !context.shape(2)) return;
  const auto a = concrete(context.shape(0)), b = concrete(context.shape(2));
  if (a && b && *a != *b) context.fail("the skip is {}, the input {}", to_text(*b), to_text(*a));
}

void run_bias_add(KernelContext& context) {
  const Tensor& src = context.input(0);
  if (src.count() == 0) return;
  for (const int i : {1, 2})
    if (context.input(i).dtype() != src.dtype()) context.fail("input {} must have the dtype of the first", i);
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    using C = compute_t<T>;
    const T* x = src.data<T>();
    const T* bias = context.input(1).data<T>();
    const T* skip = context.input(2).data<T>();
    T* y = context.output(0).mutable_data<T>();
    const int64_t width = src.dim(src.rank() - 1);
    parallel_for(src.count() / width, 1 + 16 * 1024 / width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t j = 0; j < width; ++j) {
          const int64_t i = row * width + j;
          y[i] = T(static_cast<C>(x[i]) + static_cast<C>(bias[j]) + static_cast<C>(skip[i]));
        }
    });
  });
}

}  // namespace attune::contrib
