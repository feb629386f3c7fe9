#include "ops/quantize_linear.h"

#include "base/parallel.h"
#include "base/simd_loop.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/dtype_checks.h"
#include "ops/integer_product.h"
#include "ops/packed.h"
#include "ops/quantize_rows.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr int64_t kGrain = 16'384;
constexpr int kDefaultAxis = 1;

struct IntegerRange {
  float low, high;
};
IntegerRange range_of(DType dtype) {
  const auto steps = static_cast<float>(1 << bit_width(dtype));
  return is_signed(dtype) ? IntegerRange{-steps / 2, steps / 2 - 1} : IntegerRange{0, steps - 1};
}

bool is_quantized_float(DType dtype) { return is_float(dtype) && bit_width(dtype) <= 8 && dtype != DType::f8e8m0; }
bool is_quantized_integer(DType dtype) { return is_integer(dtype) && bit_width(dtype) <= 16; }

/// The zero point has the shape of the scale and, for outputs of known type, that type.
void check_zero_point(const InferContext& context, std::string_view scale_name) {
  if (!context.has_input(2)) return;
  const auto scale = concrete(context.shape(1)), zero = concrete(context.shape(2));
  if (scale && zero && *scale != *zero && !(checked_count(*scale) == 1 && checked_count(*zero) == 1))
    context.fail("the zero point has shape {}, the {} {}; they must agree", to_text(*zero), scale_name,
                 to_text(*scale));
}

void check_granularity(const InferContext& context) {
  const auto data = concrete(context.shape(0)), scale = concrete(context.shape(1));
  if (data && scale && checked_count(*data) && checked_count(*scale))
    QuantizeRows(context, *data, *scale, context.attr_int("axis", kDefaultAxis), context.attr_int("block_size", 0));
}

QuantizeRows rows_of(const KernelContext& context) {
  return {context, context.input(0).dims(), context.input(1).dims(), context.attr_int("axis", kDefaultAxis),
          context.attr_int("block_size", 0)};
}

template <class Body> void for_each_row(const QuantizeRows& rows, Body body) {
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, rows.typical_length()));
  parallel_for(rows.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(rows.row(i));
  });
}

/// Rounds a quotient to the precision of the division; f32 is what the arithmetic has.
float round_quotient(float value, DType precision) {
  if (precision == DType::f16) return static_cast<float>(Half(value));
  if (precision == DType::bf16) return static_cast<float>(BFloat16(value));
  return value;
}

DType division_precision(const OpContext& context, DType scale) {
  const int64_t number = context.attr_int("precision", 0);
  return number == 0 ? scale : dtype_from_onnx(number, context);
}

/// src / scale in f32, rounded to the wanted precision.
Tensor quotients(const KernelContext& context, const QuantizeRows& rows) {
  const DType precision = division_precision(context, context.input(1).dtype());
  const bool narrow = precision == DType::f16 || precision == DType::bf16;
  auto read = [&](int input) {
    const Tensor& tensor = context.input(input);
    return convert(narrow ? convert(tensor, precision) : tensor, DType::f32);
  };
  const Tensor src = read(0), scale = read(1);
  Tensor result = Tensor::allocate(DType::f32, src.dims());
  const float* x = src.data<float>();
  const float* s = scale.data<float>();
  float* y = result.mutable_data<float>();
  const int64_t step = rows.parameter_step();
  for_each_row(rows, [&](const QuantizeRow& row) {
    const float* scales = s + row.parameter;
    for (int64_t i = 0; i < row.length; ++i) y[row.offset + i] = x[row.offset + i] / scales[i * step];
    if (narrow)
      for (int64_t i = 0; i < row.length; ++i) y[row.offset + i] = round_quotient(y[row.offset + i], precision);
  });
  return result;
}

/// The zero points in f32, where every one of them is exact; zeros when not given.
Tensor zero_points(const KernelContext& context, const Tensor& scale) {
  return context.has_input(2) ? convert(context.input(2), DType::f32) : Tensor::zeros(DType::f32, scale.dims());
}

/// The usual case in one pass: f32 to bytes, each row with one scale and zero point. False for every other case.
bool quantize_plainly(KernelContext& context, const QuantizeRows& rows, DType dtype) {
  const Tensor &src = context.input(0), &scale = context.input(1);
  if ((dtype != DType::i8 && dtype != DType::u8) || src.dtype() != DType::f32 || rows.parameter_step() != 0)
    return false;
  if (division_precision(context, scale.dtype()) != DType::f32 || scale.dtype() != DType::f32) return false;
  const Tensor zero = zero_points(context, scale);
  const Requantize range = requantize_to(dtype, 0.0f);
  const float* x = src.data<float>();
  uint8_t* y = context.output(0).mutable_data<uint8_t>();
  for_each_row(rows, [&](const QuantizeRow& row) {
    const float own_scale = scale.data<float>()[row.parameter];
    Requantize to = range;
    to.zero = zero.data<float>()[row.parameter];
    const float* from = x + row.offset;
    uint8_t* into = y + row.offset;
    ATTUNE_SIMD_LOOP()
    for (int64_t i = 0; i < row.length; ++i) into[i] = quantized_byte(from[i] / own_scale, to);
  });
  return true;
}

/// The usual case of the way back: bytes to f32. False for every other case.
bool dequantize_plainly(KernelContext& context, const QuantizeRows& rows) {
  const Tensor &src = context.input(0), &scale = context.input(1);
  if (scale.dtype() != DType::f32 || rows.parameter_step() != 0 || context.attr_int("output_dtype", 0) != 0)
    return false;
  if (src.dtype() != DType::i8 && src.dtype() != DType::u8) return false;
  const Tensor zero = zero_points(context, scale);
  float* y = context.output(0).mutable_data<float>();
  dispatch<TypeList<int8_t, uint8_t>>(src.dtype(), context, [&]<class T>() {
    const T* x = src.data<T>();
    for_each_row(rows, [&](const QuantizeRow& row) {
      const float own_scale = scale.data<float>()[row.parameter], own_zero = zero.data<float>()[row.parameter];
      const T* from = x + row.offset;
      float* into = y + row.offset;
      ATTUNE_SIMD_LOOP()
      for (int64_t i = 0; i < row.length; ++i) into[i] = (static_cast<float>(from[i]) - own_zero) * own_scale;
    });
  });
  return true;
}

void quantize_to_integers(KernelContext& context, const QuantizeRows& rows, const Tensor& quotient, DType dtype) {
  const IntegerRange range = range_of(dtype);
  const Tensor zero = zero_points(context, context.input(1));
  const DType storage = is_packed(dtype) ? (is_signed(dtype) ? DType::i8 : DType::u8) : dtype;
  Tensor result = Tensor::allocate(storage, quotient.dims());
  const float* q = quotient.data<float>();
  const float* zeros = zero.data<float>();
  const int64_t step = rows.parameter_step();
  dispatch<TypeList<int8_t, uint8_t, int16_t, uint16_t>>(storage, context, [&]<class T>() {
    T* dst = result.mutable_data<T>();
    for_each_row(rows, [&](const QuantizeRow& row) {
      const float* z = zeros + row.parameter;
      for (int64_t i = 0; i < row.length; ++i) {
        const float value = std::nearbyint(q[row.offset + i]) + z[i * step];
        const float raised = value > range.low ? value : range.low;  // a NaN becomes the lowest value
        dst[row.offset + i] = static_cast<T>(raised < range.high ? raised : range.high);
      }
    });
  });
  context.set_output(0, is_packed(dtype) ? pack_bytes(result, dtype) : result);
}

void quantize_to_floats(KernelContext& context, const QuantizeRows& rows, Tensor quotient, DType dtype) {
  const Tensor zero = zero_points(context, context.input(1));
  const float* zeros = zero.data<float>();
  float* q = quotient.mutable_data<float>();
  for_each_row(rows, [&](const QuantizeRow& row) {
    for (int64_t i = 0; i < row.length; ++i) q[row.offset + i] += zeros[row.parameter + i * rows.parameter_step()];
  });
  const bool saturate = context.attr_int("saturate", 1) != 0;
  context.set_output(0, convert(quotient, dtype, {.overflow = saturate ? Overflow::saturate : Overflow::to_special}));
}

DType quantized_dtype(const InferContext& context) {
  const int64_t number = context.attr_int("output_dtype", 0);
  const DType named = number == 0 ? DType::undefined : dtype_from_onnx(number, context);
  if (!context.has_input(2)) return number == 0 ? DType::u8 : named;
  const DType zero_point = context.dtype(2);
  if (number != 0 && zero_point != DType::undefined && zero_point != named)
    context.fail("attribute 'output_dtype' is {}, but the zero point has {}", dtype_name(named),
                 dtype_name(zero_point));
  return zero_point;
}

}  // namespace

void infer_quantize_linear(InferContext& context) {
  const DType dtype = quantized_dtype(context);
  if (dtype != DType::undefined && !is_quantized_float(dtype) && !is_quantized_integer(dtype))
    context.fail("cannot quantize to {}", dtype_name(dtype));
  check_zero_point(context, "scale");
  check_granularity(context);
  division_precision(context, DType::f32);
  context.set_output(0, dtype, context.shape(0));
}

void quantize_linear_kernel(KernelContext& context) {
  const DType dtype = context.has_input(2) ? context.input(2).dtype()
                      : context.attr_int("output_dtype", 0) != 0
                          ? dtype_from_onnx(context.attr_int("output_dtype"), context)
                          : DType::u8;
  const QuantizeRows rows = rows_of(context);
  if (quantize_plainly(context, rows, dtype)) return;
  Tensor quotient = quotients(context, rows);
  if (is_float(dtype))
    quantize_to_floats(context, rows, std::move(quotient), dtype);
  else
    quantize_to_integers(context, rows, quotient, dtype);
}

void infer_dequantize_linear(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (dtype != DType::undefined && !is_quantized_float(dtype) && !is_quantized_integer(dtype) && dtype != DType::i32)
    context.fail("cannot dequantize {}", dtype_name(dtype));
  if (context.has_input(2) && context.dtype(2) != DType::undefined && dtype != DType::undefined &&
      context.dtype(2) != dtype)
    context.fail("the zero point has dtype {}, the data {}", dtype_name(context.dtype(2)), dtype_name(dtype));
  check_zero_point(context, "scale");
  check_granularity(context);
  const int64_t number = context.attr_int("output_dtype", 0);
  const DType result = number == 0 ? context.dtype(1) : dtype_from_onnx(number, context);
  if (result != DType::undefined && !is_plain_float(result))
    context.fail("cannot dequantize to {}; name a float with the attribute 'output_dtype'", dtype_name(result));
  context.set_output(0, result, context.shape(0));
}

void dequantize_linear_kernel(KernelContext& context) {
  const QuantizeRows rows = rows_of(context);
  if (dequantize_plainly(context, rows)) return;
  const int64_t step = rows.parameter_step();
  const Tensor scale = convert(context.input(1), DType::f32);
  Tensor result = Tensor::allocate(DType::f32, context.input(0).dims());
  const float* scales = scale.data<float>();
  float* dst = result.mutable_data<float>();
  const bool floats = is_float(context.input(0).dtype());
  const Tensor src = floats ? convert(context.input(0), DType::f32) : unpack_bytes(context.input(0));
  using Sources = TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, float>;
  dispatch<Sources>(src.dtype(), context, [&]<class T>() {
    // Wide enough for an exact difference of integers; narrow floats are subtracted in f32.
    using Wide = std::conditional_t<std::is_same_v<T, float>, float,
                                    std::conditional_t<std::is_same_v<T, int32_t>, int64_t, int32_t>>;
    const Tensor zero = context.has_input(2) ? convert(context.input(2), dtype_of<Wide>())
                                             : Tensor::zeros(dtype_of<Wide>(), scale.dims());
    const T* x = src.data<T>();
    const Wide* zeros = zero.data<Wide>();
    for_each_row(rows, [&](const QuantizeRow& row) {
      const float* s = scales + row.parameter;
      const Wide* z = zeros + row.parameter;
      for (int64_t i = 0; i < row.length; ++i) {
        const Wide difference = static_cast<Wide>(x[row.offset + i]) - z[i * step];
        dst[row.offset + i] = static_cast<float>(difference) * s[i * step];
      }
    });
  });
  const int64_t number = context.attr_int("output_dtype", 0);
  context.set_output(0, convert(result, number == 0 ? context.input(1).dtype() : dtype_from_onnx(number, context)));
}

DynamicRange dynamic_range(std::span<const float> values) {
  constexpr int64_t kPiece = 65'536;
  const auto count = static_cast<int64_t>(values.size());
  struct Extremes {
    float low = 0.0f, high = 0.0f;
  };
  std::vector<Extremes> pieces(static_cast<size_t>((count + kPiece - 1) / kPiece));
  parallel_for(std::ssize(pieces), 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      float least = 0.0f, most = 0.0f;
      const float* x = values.data() + piece * kPiece;
      const int64_t length = std::min(kPiece, count - piece * kPiece);
      ATTUNE_SIMD_LOOP(reduction(min : least) reduction(max : most))
      for (int64_t i = 0; i < length; ++i) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
      }
      pieces[static_cast<size_t>(piece)] = {least, most};
    }
  });
  float low = 0.0f, high = 0.0f;
  for (const Extremes& piece : pieces) {
    low = std::min(low, piece.low);
    high = std::max(high, piece.high);
  }
  DynamicRange range;
  range.scale = (high == low ? 1.0f : high - low) / 255.0f;
  range.zero_point = to_integer<uint8_t>(std::nearbyint(std::clamp(-low / range.scale, 0.0f, 255.0f)));
  return range;
}

void quantize_to_u8(std::span<const float> src, const DynamicRange& range, uint8_t* dst) {
  parallel_for(static_cast<int64_t>(src.size()), kGrain, [&](int64_t begin, int64_t end) {
    const Requantize to = requantize_to(DType::u8, range.zero_point);
    const float* x = src.data();
    const float scale = range.scale;
    ATTUNE_SIMD_LOOP()
    for (int64_t i = begin; i < end; ++i) dst[i] = quantized_byte(x[i] / scale, to);
  });
}

void infer_dynamic_quantize_linear(InferContext& context) {
  if (context.dtype(0) != DType::f32 && context.dtype(0) != DType::undefined)
    context.fail("input 0 has dtype {}, expected f32", dtype_name(context.dtype(0)));
  context.set_output(0, DType::u8, context.shape(0));
  context.set_output(1, DType::f32, Shape{});
  context.set_output(2, DType::u8, Shape{});
}

void dynamic_quantize_linear_kernel(KernelContext& context) {
  const Tensor& src = context.input(0);
  const std::span<const float> values(src.data<float>(), static_cast<size_t>(src.count()));
  const DynamicRange range = dynamic_range(values);
  if (context.wants_output(0)) quantize_to_u8(values, range, context.output(0).mutable_data<uint8_t>());
  if (context.wants_output(1)) *context.output(1).mutable_data<float>() = range.scale;
  if (context.wants_output(2)) *context.output(2).mutable_data<uint8_t>() = range.zero_point;
}

}  // namespace attune
