// Cast, CastLike and BitCast between all element types.
#include "ops/content_math.h"
#include "ops/convert.h"
#include "ops/dtype_checks.h"
#include "ops/families.h"

namespace attune {
namespace {

E8m0Rounding read_rounding(const OpContext& context) {
  const std::string mode = context.attr_string("round_mode", "up");
  if (mode == "up") return E8m0Rounding::up;
  if (mode == "down") return E8m0Rounding::down;
  if (mode == "nearest") return E8m0Rounding::nearest;
  context.fail("attribute 'round_mode' is '{}', expected up, down or nearest", mode);
}

ConvertOptions read_options(const OpContext& context) {
  return {.overflow = context.attr_int("saturate", 1) != 0 ? Overflow::saturate : Overflow::to_special,
          .e8m0_rounding = read_rounding(context)};
}

void infer_conversion(InferContext& context, DType to) {
  read_options(context);
  context.set_output(0, to, context.shape(0));
  if (!context.shape(0) || context.shape(0)->size() > 1) return;
  const auto content = numbers_of(context, 0);
  if (!content) return;
  // Whole numbers stay what they are in i64 and i32, and in floats that a later Cast turns back.
  if (to == DType::boolean) {
    map_contents(context, 1, {to, context.shape(0)},
                 [](const std::vector<Dim>& x) { return Dim(1) - equal_content(x[0], Dim(0)); });
  } else if (to == DType::i64 || to == DType::i32 || to == DType::f32 || to == DType::f64) {
    map_contents(context, 1, {to, context.shape(0)}, [](const std::vector<Dim>& x) { return x[0]; });
  }
}

void infer_cast(InferContext& context) { infer_conversion(context, dtype_from_onnx(context.attr_int("to"), context)); }
void infer_cast_like(InferContext& context) { infer_conversion(context, context.dtype(1)); }

void cast_kernel(KernelContext& context) {
  const DType to = dtype_from_onnx(context.attr_int("to"), context);
  context.set_output(0, convert(context.input(0), to, read_options(context)));
}

void cast_like_kernel(KernelContext& context) {
  context.set_output(0, convert(context.input(0), context.input(1).dtype(), read_options(context)));
}

void infer_bit_cast(InferContext& context) {
  const DType from = context.dtype(0);
  const DType to = dtype_from_onnx(context.attr_int("to"), context);
  if (from != DType::undefined && bit_width(from) != bit_width(to))
    context.fail("{} has {} bits and {} has {}; the widths must agree", dtype_name(from), bit_width(from),
                 dtype_name(to), bit_width(to));
  context.set_output(0, to, context.shape(0));
}

void bit_cast_kernel(KernelContext& context) {
  const Tensor& src = context.input(0);
  const DType to = dtype_from_onnx(context.attr_int("to"), context);
  // The copy shares the storage: only the name of the type changes.
  const Tensor held = src.held();
  context.set_output(0, Tensor::borrow(to, src.dims(), held.bytes(), std::make_shared<Tensor>(held)));
}

OpDef cast_op(std::string_view name, int since, Arity inputs, void (*infer)(InferContext&),
              void (*kernel)(KernelContext&)) {
  return {.domain = "",
          .name = name,
          .since = since,
          .inputs = inputs,
          .outputs = {1, 1},
          .layout_class = LayoutClass::irrelevant,
          .infer = infer,
          .kernel = kernel};
}

}  // namespace

std::span<const OpDef> cast_ops() {
  static const OpDef ops[] = {
      cast_op("BitCast", 26, {1, 1}, infer_bit_cast, bit_cast_kernel),
      cast_op("Cast", 1, {1, 1}, infer_cast, cast_kernel),
      cast_op("CastLike", 15, {2, 2}, infer_cast_like, cast_like_kernel),
  };
  return ops;
}

}  // namespace attune
