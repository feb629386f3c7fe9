#include "ops/binary_logic.h"

#include "ops/content_math.h"
#include "ops/dtype_checks.h"
#include "ops/elementwise.h"
#include "ops/integer_math.h"

namespace attune {
namespace {

constexpr int kShiftsSigned = 28;  // BitShift takes unsigned integers only before

ValueType infer_logic(InferContext& context) {
  require_bool(context, 0);
  require_bool(context, 1);
  ValueType type{DType::boolean, broadcast_inputs(context, 0, 2)};
  context.set_output(0, type.dtype, type.shape);
  return type;
}

bool is(const Dim& truth, int64_t value) { return truth.is_known() && truth.value() == value; }

template <class F> void logic_kernel(KernelContext& context, F fn) {
  map_binary<uint8_t, uint8_t, uint8_t>(context.input(0), context.input(1), context.output(0),
                                        [fn](uint8_t a, uint8_t b) { return fn(a != 0, b != 0); });
}

template <class F> void bitwise_kernel(KernelContext& context, F fn) {
  dispatch<IntTypes>(context.input(0).dtype(), context, [&]<class T>() {
    map_binary<T, T, T>(context.input(0), context.input(1), context.output(0), fn);
  });
}

template <class T> bool shifts_within(T amount) {
  return amount >= T{0} && static_cast<uint64_t>(amount) < sizeof(T) * 8;
}

}  // namespace

void infer_and(InferContext& context) {
  const ValueType type = infer_logic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) {
    if (is(x[0], 0) || is(x[1], 0)) return Dim(0);
    return is(x[0], 1) ? x[1] : is(x[1], 1) ? x[0] : Dim::unknown();
  });
}
void infer_or(InferContext& context) {
  const ValueType type = infer_logic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) {
    if (is(x[0], 1) || is(x[1], 1)) return Dim(1);
    return is(x[0], 0) ? x[1] : is(x[1], 0) ? x[0] : Dim::unknown();
  });
}
void infer_xor(InferContext& context) {
  const ValueType type = infer_logic(context);
  map_contents(context, 2, type, [](const std::vector<Dim>& x) { return Dim(1) - equal_content(x[0], x[1]); });
}

void infer_bitwise(InferContext& context) {
  require_plain_integer(context, 0);
  const DType dtype = shared_dtype(context, 0, 2);
  context.set_output(0, dtype, broadcast_inputs(context, 0, 2));
}

void infer_bit_shift(InferContext& context) {
  infer_bitwise(context);
  const std::string& direction = context.attr_string("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    context.fail("attribute 'direction' is '{}', expected LEFT or RIGHT", direction);
  if (context.version() < kShiftsSigned && is_signed(context.dtype(0)))
    context.fail("signed integers are shifted from opset {} on", kShiftsSigned);
}

void and_kernel(KernelContext& context) {
  logic_kernel(context, [](bool a, bool b) { return a && b; });
}
void or_kernel(KernelContext& context) {
  logic_kernel(context, [](bool a, bool b) { return a || b; });
}
void xor_kernel(KernelContext& context) {
  logic_kernel(context, [](bool a, bool b) { return a != b; });
}

void bitwise_and_kernel(KernelContext& context) {
  bitwise_kernel(context, [](auto a, auto b) { return a & b; });
}
void bitwise_or_kernel(KernelContext& context) {
  bitwise_kernel(context, [](auto a, auto b) { return a | b; });
}
void bitwise_xor_kernel(KernelContext& context) {
  bitwise_kernel(context, [](auto a, auto b) { return a ^ b; });
}

/// Shifting by a negative amount or by the whole width leaves only what fills the vacated bits.
void bit_shift_kernel(KernelContext& context) {
  if (context.attr_string("direction") == "LEFT") {
    bitwise_kernel(context, []<class T>(T x, T amount) {
      if (!shifts_within(amount)) return T{0};
      return static_cast<T>(static_cast<wrapping_t<T>>(x) << amount);
    });
    return;
  }
  bitwise_kernel(context, []<class T>(T x, T amount) {
    if (!shifts_within(amount)) return static_cast<T>(x < T{0} ? -1 : 0);
    return static_cast<T>(x >> amount);
  });
}

}  // namespace attune
