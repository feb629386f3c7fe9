// Elementwise functions of one input: arithmetic, trigonometry, rounding, predicates.
#include "ops/content_math.h"
#include "ops/convert.h"
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

void infer_integer(InferContext& context) {
  require_plain_integer(context, 0);
  context.copy_type(0, 0);
}

/// Floor, Ceil, Round: sizes computed in floats between two Casts stay what they are.
void infer_rounding(InferContext& context) {
  infer_float(context);
  map_content(context, [](const Dim& x) { return x; });
}

void infer_abs(InferContext& context) {
  infer_numeric(context);
  map_content(context, [](const Dim& x) {
    if (x.never_negative()) return x;
    const Dim negated = Dim(0) - x;
    return negated.never_negative() ? negated : Dim::unknown();
  });
}

void infer_neg(InferContext& context) {
  infer_numeric(context);
  map_content(context, [](const Dim& x) { return Dim(0) - x; });
}

void infer_not(InferContext& context) {
  require_bool(context, 0);
  context.copy_type(0, 0);
  map_content(context, [](const Dim& x) { return Dim(1) - x; });
}

void infer_float_predicate(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (dtype != DType::undefined && !is_float(dtype))
    context.fail("input 0 has dtype {}, expected a float", dtype_name(dtype));
  context.set_output(0, DType::boolean, context.shape(0));
}

/// A kernel over the floating-point types with the function of a functor type.
template <class F> void float_kernel(KernelContext& context) { map_floats(context, F{}); }

template <class F> void numeric_kernel(KernelContext& context) {
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() { map_unary<T>(context, F{}); });
}

struct Abs {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else
      return x < T{0} ? wrapping_sub(T{0}, x) : x;
  }
};
struct Neg {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrapping_sub(T{0}, x);
  }
};
struct Sign {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(x)) return x;
    return static_cast<T>((x > T{0}) - (x < T{0}));
  }
};
struct Erf {
  template <class T> T operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::erf(x);
    else
      return to_integer<T>(std::erf(static_cast<double>(x)));
  }
};
struct Acos {
  template <class T> T operator()(T x) const { return std::acos(x); }
};
struct Acosh {
  template <class T> T operator()(T x) const { return std::acosh(x); }
};
struct Asin {
  template <class T> T operator()(T x) const { return std::asin(x); }
};
struct Asinh {
  template <class T> T operator()(T x) const { return std::asinh(x); }
};
struct Atan {
  template <class T> T operator()(T x) const { return std::atan(x); }
};
struct Atanh {
  template <class T> T operator()(T x) const { return std::atanh(x); }
};
struct Ceil {
  template <class T> T operator()(T x) const { return std::ceil(x); }
};
struct Cos {
  template <class T> T operator()(T x) const { return std::cos(x); }
};
struct Cosh {
  template <class T> T operator()(T x) const { return std::cosh(x); }
};
struct Exp {
  template <class T> T operator()(T x) const { return std::exp(x); }
};
struct Floor {
  template <class T> T operator()(T x) const { return std::floor(x); }
};
struct Log {
  template <class T> T operator()(T x) const { return std::log(x); }
};
struct Reciprocal {
  template <class T> T operator()(T x) const { return T{1} / x; }
};
struct Round {
  template <class T> T operator()(T x) const { return std::nearbyint(x); }
};  // halves to even
struct Sin {
  template <class T> T operator()(T x) const { return std::sin(x); }
};
struct Sinh {
  template <class T> T operator()(T x) const { return std::sinh(x); }
};
struct Sqrt {
  template <class T> T operator()(T x) const { return std::sqrt(x); }
};
struct Tan {
  template <class T> T operator()(T x) const { return std::tan(x); }
};
struct Tanh {
  template <class T> T operator()(T x) const { return std::tanh(x); }
};

void not_kernel(KernelContext& context) {
  Tensor& dst = context.output(0);
  map_range(context.input(0).data<uint8_t>(), dst.mutable_data<uint8_t>(), dst.count(),
            [](uint8_t x) { return static_cast<uint8_t>(x == 0); });
}

void bitwise_not_kernel(KernelContext& context) {
  dispatch<IntTypes>(context.input(0).dtype(), context,
                     [&]<class T>() { map_unary<T>(context, [](T x) { return static_cast<T>(~x); }); });
}

/// Output 0 = fn(input 0) as a bool, for floats of any format.
template <class F> void predicate_kernel(KernelContext& context, F fn) {
  const Tensor& input = context.input(0);
  const Tensor src = is_plain_float(input.dtype()) ? input : convert(input, DType::f32);
  Tensor& dst = context.output(0);
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    map_range(src.data<T>(), dst.mutable_data<uint8_t>(), dst.count(),
              [fn](auto x) { return static_cast<uint8_t>(fn(x)); });
  });
}

void is_nan_kernel(KernelContext& context) {
  predicate_kernel(context, [](auto x) { return std::isnan(x); });
}

void is_inf_kernel(KernelContext& context) {
  const bool positive = context.attr_int("detect_positive", 1) != 0;
  const bool negative = context.attr_int("detect_negative", 1) != 0;
  predicate_kernel(context, [=](auto x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}

OpDef unary_op(std::string_view name, int since, void (*infer)(InferContext&), void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = {1, 1},
          .outputs = {1, 1},
          .layout_class = LayoutClass::irrelevant,
          .infer = infer,
          .kernel = kernel,
          .flops = elementwise_flops};
}

}  // namespace

std::span<const OpDef> unary_ops() {
  static const OpDef ops[] = {
      unary_op("Abs", 1, infer_abs, numeric_kernel<Abs>),
      unary_op("Acos", 7, infer_float, float_kernel<Acos>),
      unary_op("Acosh", 9, infer_float, float_kernel<Acosh>),
      unary_op("Asin", 7, infer_float, float_kernel<Asin>),
      unary_op("Asinh", 9, infer_float, float_kernel<Asinh>),
      unary_op("Atan", 7, infer_float, float_kernel<Atan>),
      unary_op("Atanh", 9, infer_float, float_kernel<Atanh>),
      unary_op("BitwiseNot", 18, infer_integer, bitwise_not_kernel),
      unary_op("Ceil", 1, infer_rounding, float_kernel<Ceil>),
      unary_op("Cos", 7, infer_float, float_kernel<Cos>),
      unary_op("Cosh", 9, infer_float, float_kernel<Cosh>),
      unary_op("Erf", 9, infer_numeric, numeric_kernel<Erf>),
      unary_op("Exp", 1, infer_float, float_kernel<Exp>),
      unary_op("Floor", 1, infer_rounding, float_kernel<Floor>),
      unary_op("IsInf", 10, infer_float_predicate, is_inf_kernel),
      unary_op("IsNaN", 9, infer_float_predicate, is_nan_kernel),
      unary_op("Log", 1, infer_float, float_kernel<Log>),
      unary_op("Neg", 1, infer_neg, numeric_kernel<Neg>),
      unary_op("Not", 1, infer_not, not_kernel),
      unary_op("Reciprocal", 1, infer_float, float_kernel<Reciprocal>),
      unary_op("Round", 11, infer_rounding, float_kernel<Round>),
      unary_op("Sign", 9, infer_numeric, numeric_kernel<Sign>),
      unary_op("Sin", 7, infer_float, float_kernel<Sin>),
      unary_op("Sinh", 9, infer_float, float_kernel<Sinh>),
      unary_op("Sqrt", 1, infer_float, float_kernel<Sqrt>),
      unary_op("Tan", 7, infer_float, float_kernel<Tan>),
      unary_op("Tanh", 1, infer_float, float_kernel<Tanh>),
  };
  return ops;
}

}  // namespace attune
