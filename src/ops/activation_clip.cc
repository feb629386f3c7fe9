#include "ops/activation_clip.h"

#include "ops/content_math.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"

#include <limits>

namespace attune {
namespace {

constexpr int kBoundsAreInputs = 11;  // attributes before this opset

void require_one_element(const InferContext& context, int input, std::string_view name) {
  if (!context.has_input(input)) return;
  const auto dims = concrete(context.shape(input));
  if (dims && checked_count(*dims) != 1)
    context.fail("input '{}' has shape {}, expected a scalar", name, to_text(*dims));
}

/// The bounds in the element type; what is not given is the end of its range.
template <class T> struct Bounds { T low, high; };
template <class T> Bounds<compute_t<T>> clip_bounds(const KernelContext& context) {
  using C = compute_t<T>;
  using Limits = std::numeric_limits<C>;
  Bounds<C> bounds{Limits::has_infinity ? -Limits::infinity() : Limits::lowest(),
                   Limits::has_infinity ? Limits::infinity() : Limits::max()};
  if (context.version() < kBoundsAreInputs) {
    if constexpr (std::is_floating_point_v<C>) {
      if (context.has_attr("min")) bounds.low = static_cast<C>(context.attr_float("min"));
      if (context.has_attr("max")) bounds.high = static_cast<C>(context.attr_float("max"));
    }
    return bounds;
  }
  if (context.has_input(1)) bounds.low = static_cast<C>(*context.input(1).data<T>());
  if (context.has_input(2)) bounds.high = static_cast<C>(*context.input(2).data<T>());
  return bounds;
}

}  // namespace

void infer_clip(InferContext& context) {
  if (context.version() < kBoundsAreInputs) {
    require_plain_float(context, 0);
  } else {
    require_plain_numeric(context, 0);
    shared_dtype(context, 0, std::min(context.input_count(), 3));
    require_one_element(context, 1, "min");
    require_one_element(context, 2, "max");
  }
  context.copy_type(0, 0);

  const auto low = context.known_ints(1), high = context.known_ints(2);
  const bool unknown_bound = (context.has_input(1) && !low) || (context.has_input(2) && !high);
  if (context.version() < kBoundsAreInputs || unknown_bound) return;
  map_content(context, [&](const Dim& x) {
    const Dim raised = low && low->size() == 1 ? max_content(x, Dim((*low)[0])) : x;
    return high && high->size() == 1 ? min_content(raised, Dim((*high)[0])) : raised;
  });
}

void clip_kernel(KernelContext& context) {
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() {
    const auto bounds = clip_bounds<T>(context);
    // A NaN passes; when the bounds cross, the upper one wins.
    map_unary<T>(context, [bounds](auto x) {
      const auto raised = x < bounds.low ? bounds.low : x;
      return raised > bounds.high ? bounds.high : raised;
    });
  });
}

void shrink_kernel(KernelContext& context) {
  const double bias = context.attr_float("bias", 0.0f);
  const double lambd = context.attr_float("lambd", 0.5f);
  dispatch<NumericTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_unary<T>(context, [=]<class C>(C x) {
      const auto value = static_cast<double>(x);
      const double shrunk = value < -lambd ? value + bias : value > lambd ? value - bias : 0.0;
      if constexpr (std::is_integral_v<C>)
        return to_integer<C>(shrunk);
      else
        return static_cast<C>(shrunk);
    });
  });
}

}  // namespace attune
