#include "ops/dtype_checks.h"

namespace attune {
namespace {

void require(const InferContext& context, int input, bool (*accepts)(DType), std::string_view wanted) {
  if (!context.has_input(input)) return;
  const DType dtype = context.dtype(input);
  if (dtype != DType::undefined && !accepts(dtype))
    context.fail("input {} has dtype {}, expected {}", input, dtype_name(dtype), wanted);
}

}  // namespace

bool is_plain_float(DType dtype) { return is_float(dtype) && bit_width(dtype) >= 16; }
bool is_plain_integer(DType dtype) { return is_integer(dtype) && bit_width(dtype) >= 8; }
bool is_plain_numeric(DType dtype) { return is_plain_float(dtype) || is_plain_integer(dtype); }

void require_input(const InferContext& context, int input) {
  if (!context.has_input(input)) context.fail("required input {} is omitted", input);
}

void require_plain_float(const InferContext& context, int input) {
  require(context, input, is_plain_float, "f64, f32, f16 or bf16");
}
void require_plain_integer(const InferContext& context, int input) {
  require(context, input, is_plain_integer, "an integer of 8 to 64 bits");
}
void require_plain_numeric(const InferContext& context, int input) {
  require(context, input, is_plain_numeric, "a float of 16 or more bits or an integer of 8 or more");
}
void require_bool(const InferContext& context, int input) {
  require(
      context, input, [](DType dtype) { return dtype == DType::boolean; }, "bool");
}

DType shared_dtype(const InferContext& context, int first, int last) {
  DType shared = DType::undefined;
  for (int i = first; i < last; ++i) {
    if (!context.has_input(i) || context.dtype(i) == DType::undefined) continue;
    if (shared != DType::undefined && context.dtype(i) != shared)
      context.fail("input {} has dtype {}, but another has {}; insert a Cast", i, dtype_name(context.dtype(i)),
                   dtype_name(shared));
    shared = context.dtype(i);
  }
  return shared;
}

}  // namespace attune
