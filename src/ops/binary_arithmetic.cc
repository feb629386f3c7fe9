#include "ops/binary_arithmetic.h"

#include "ops/content_math.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"
#include "ops/integer_math.h"

#include <cmath>

namespace attune {
namespace {

constexpr int kModTakesFloats = 28;  // with fmod = 0

ValueType infer_arithmetic(InferContext& context) {
  require_plain_numeric(context, 0);
  ValueType type{shared_dtype(context, 0, 2), broadcast_inputs(context, 0, 2)};
  context.set_output(0, type.dtype, type.shape);
  return type;
}

template <class F> void arithmetic_kernel(KernelContext& context, F fn) {
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_binary<T, T, T>(context.input(0), context.input(1), context.output(0), fn);
  });
}

}  // namespace

void infer_add(InferContext& context) {
  const ValueType type = infer_arithmetic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return x[0] + x[1]; });
}

void infer_sub(InferContext& context) {
  const ValueType type = infer_arithmetic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return x[0] - x[1]; });
}

void infer_mul(InferContext& context) {
  const ValueType type = infer_arithmetic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return x[0] * x[1]; });
}

void infer_div(InferContext& context) {
  const ValueType type = infer_arithmetic(context);
  const bool floats = is_float(type.dtype);
  map_contents(context, 2, type, [floats](const std::vector<Dim>& x) {
    return floats ? divide_exactly(x[0], x[1]) : divide_integers(x[0], x[1]);
  });
}

void infer_mod(InferContext& context) {
  const ValueType type = infer_arithmetic(context);
  const int64_t fmod = context.attr_int("fmod", 0);
  if (fmod != 0 && fmod != 1) context.fail("attribute 'fmod' is {}, expected 0 or 1", fmod);
  if (fmod == 0 && is_float(type.dtype) && context.version() < kModTakesFloats)
    context.fail("floats need fmod = 1 before opset {}", kModTakesFloats);
  if (is_float(type.dtype)) return;
  map_contents(context, 2, type, [fmod](const std::vector<Dim>& x) {
    if (x[0].is_known() && x[1].is_known())
      return Dim(fmod ? safe_rem(x[0].value(), x[1].value()) : safe_floor_mod(x[0].value(), x[1].value()));
    return divide_exactly(x[0], x[1]).is_unknown() ? Dim::unknown() : Dim(0);
  });
}

void infer_pow(InferContext& context) {
  require_plain_numeric(context, 0);
  require_plain_numeric(context, 1);
  context.set_output(0, context.dtype(0), broadcast_inputs(context, 0, 2));
}

void add_kernel(KernelContext& context) {
  arithmetic_kernel(context, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return wrapping_add(a, b);
    else
      return a + b;
  });
}

void sub_kernel(KernelContext& context) {
  arithmetic_kernel(context, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return wrapping_sub(a, b);
    else
      return a - b;
  });
}

void mul_kernel(KernelContext& context) {
  arithmetic_kernel(context, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return wrapping_mul(a, b);
    else
      return a * b;
  });
}

void div_kernel(KernelContext& context) {
  arithmetic_kernel(context, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return safe_div(a, b);
    else
      return a / b;
  });
}

namespace {

/// The remainder that takes the sign of b, a zero included.
template <class T> T float_floor_mod(T a, T b) {
  const T remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(T{0}, b);
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

}  // namespace

void mod_kernel(KernelContext& context) {
  if (context.attr_int("fmod", 0) != 0) {
    arithmetic_kernel(context, []<class T>(T a, T b) {
      if constexpr (std::is_integral_v<T>)
        return safe_rem(a, b);
      else
        return std::fmod(a, b);
    });
    return;
  }
  arithmetic_kernel(context, []<class T>(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return safe_floor_mod(a, b);
    else
      return float_floor_mod(a, b);
  });
}

namespace {

/// Exact modulo 2^bits. A negative power of anything but 1 and -1 truncates to 0.
template <std::integral T> T integer_power(T base, int64_t exponent) {
  if (exponent < 0) {
    if (base == T{1}) return base;
    if constexpr (std::is_signed_v<T>)
      if (base == T{-1}) return exponent % 2 == 0 ? T{1} : T{-1};
    return T{0};
  }
  T result{1};
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result = wrapping_mul(result, base);
    base = wrapping_mul(base, base);
  }
  return result;
}

/// Squares, cubes and square roots are most of what models ask for, and far cheaper than pow.
bool simple_power(KernelContext& context, const Tensor& exponent) {
  if (exponent.count() != 1 || context.output(0).dims() != context.input(0).dims()) return false;
  const double power = element_as_double(exponent, 0);
  if (power == 2.0)
    map_floats(context, [](auto x) { return x * x; });
  else if (power == 3.0)
    map_floats(context, [](auto x) { return x * x * x; });
  else if (power == 1.0)
    map_floats(context, [](auto x) { return x; });
  else
    return false;
  return true;
}

void float_pow(KernelContext& context, const Tensor& base, const Tensor& exponent) {
  if (simple_power(context, exponent)) return;
  Tensor& dst = context.output(0);
  if (base.dtype() == DType::f32 && exponent.dtype() == DType::f32) {
    map_binary<float, float, float>(base, exponent, dst, [](float a, float b) { return std::pow(a, b); });
    return;
  }
  const Tensor wide = convert(exponent, DType::f64);
  dispatch<FloatTypes>(base.dtype(), context, [&]<class T>() {
    map_binary<T, double, T>(base, wide, dst, [](auto a, double b) {
      return static_cast<decltype(a)>(std::pow(static_cast<double>(a), b));
    });
  });
}

}  // namespace

void pow_kernel(KernelContext& context) {
  const Tensor& base = context.input(0);
  const Tensor& exponent = context.input(1);
  if (is_float(base.dtype())) {
    float_pow(context, base, exponent);
    return;
  }
  Tensor& dst = context.output(0);
  if (is_float(exponent.dtype())) {
    const Tensor wide = convert(exponent, DType::f64);
    dispatch<IntTypes>(base.dtype(), context, [&]<class T>() {
      map_binary<T, double, T>(base, wide, dst,
                               [](T a, double b) { return to_integer<T>(std::pow(static_cast<double>(a), b)); });
    });
    return;
  }
  const Tensor wide = convert(exponent, DType::i64);
  dispatch<IntTypes>(base.dtype(), context, [&]<class T>() {
    map_binary<T, int64_t, T>(base, wide, dst, [](T a, int64_t b) { return integer_power(a, b); });
  });
}

}  // namespace attune
