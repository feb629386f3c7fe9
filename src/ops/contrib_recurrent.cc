// DynamicQuantizeLSTM of com.microsoft: 8-bit weights; input and hidden state are rounded to 8 bits as they come.
#include "ops/families.h"
#include "ops/recurrent.h"

namespace attune {
namespace {

using namespace recurrent;

enum Input { kX, kW, kR, kWScale = 8, kWZeroPoint, kRScale, kRZeroPoint };

InputSlots slots_of() {
  InputSlots slots;
  slots.c = 6, slots.peephole = 7;
  return slots;
}

/// Scale and zero point come for each direction, or for each of its columns.
void check_quantization(const InferContext& context, int weights, int scale, int zero_point) {
  if (!context.has_input(scale) || !context.has_input(zero_point))
    context.fail("scale or zero point of input {} is missing", weights);
  const auto& shape = context.shape(weights);
  for (const int i : {scale, zero_point}) {
    if (!shape || !context.shape(i)) continue;
    const Shape& own = *context.shape(i);
    bool fits = own.size() == 1 || own.size() == 2;
    for (size_t axis = 0; fits && axis < own.size(); ++axis) {
      const Dim& expected = (*shape)[axis == 0 ? 0 : 2];
      fits = !own[axis].is_known() || !expected.is_known() || own[axis].value() == expected.value();
    }
    if (!fits) context.fail("input {} is {}, which does not fit weights of {}", i, to_text(own), to_text(*shape));
  }
  const DType dtype = context.dtype(weights);
  if (dtype != DType::undefined && dtype != DType::i8 && dtype != DType::u8)
    context.fail("weights are {}, expected i8 or u8", dtype_name(dtype));
  if (dtype != context.dtype(zero_point) && context.dtype(zero_point) != DType::undefined)
    context.fail("weights are {}, their zero point {}", dtype_name(dtype), dtype_name(context.dtype(zero_point)));
}

void infer(InferContext& context) {
  infer_sequence(context, CellKind::lstm, slots_of(), WeightOrder::gates_last);
  check_quantization(context, kW, kWScale, kWZeroPoint);
  check_quantization(context, kR, kRScale, kRZeroPoint);
}

float as_float(const Tensor& tensor, int64_t index) {
  return tensor.dtype() == DType::i8 ? static_cast<float>(tensor.data<int8_t>()[index])
                                     : static_cast<float>(tensor.data<uint8_t>()[index]);
}

/// Weights [directions, size, columns] as numbers, [directions, columns, size].
Tensor expanded(const KernelContext& context, int weights, int scale_slot, int zero_point_slot) {
  const Tensor& src = context.input(weights);
  const Tensor& scale = context.input(scale_slot);
  const Tensor& zero_point = context.input(zero_point_slot);
  if (scale.dtype() != DType::f32) context.fail("input {} is {}, expected f32", scale_slot, dtype_name(scale.dtype()));
  const int64_t directions = src.dim(0), size = src.dim(1), columns = src.dim(2);
  Tensor result = Tensor::allocate(DType::f32, {directions, columns, size});
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t c = 0; c < columns; ++c) {
      const float factor = scale.data<float>()[scale.rank() == 2 ? d * columns + c : d];
      const float zero = as_float(zero_point, zero_point.rank() == 2 ? d * columns + c : d);
      for (int64_t i = 0; i < size; ++i)
        dst[(d * columns + c) * size + i] = (as_float(src, (d * size + i) * columns + c) - zero) * factor;
    }
  return result;
}

void run(KernelContext& context) {
  if (context.input(kX).dtype() != DType::f32)
    context.fail("the input is {}, expected f32", dtype_name(context.input(kX).dtype()));
  SequenceSetup setup = read_setup(context, CellKind::lstm);
  setup.quantized_state = true;
  SequenceOperands operands;
  operands.x = context.input(kX).clone();
  round_to_8_bits(operands.x.mutable_data<float>(), operands.x.count());
  operands.w = expanded(context, kW, kWScale, kWZeroPoint);
  operands.r = expanded(context, kR, kRScale, kRZeroPoint);
  run_sequence(context, setup, slots_of(), operands);
}

/// Two operations for each weight, step and row of the batch.
double flops(const CostContext& context) {
  const Dims x = context.input_dims(kX);
  if (x.size() != 3) return 0;
  return 2.0 * static_cast<double>(x[0] * x[1]) * (context.input_elements(kW) + context.input_elements(kR));
}

constexpr OpDef kOps[] = {
    {.domain = "com.microsoft",
     .name = "DynamicQuantizeLSTM",
     .since = 1,
     .inputs = {3, 12},
     .outputs = {0, 3},
     .layout_class = LayoutClass::decides_function,
     .infer = infer,
     .kernel = run,
     .flops = flops},
};

}  // namespace

std::span<const OpDef> contrib_recurrent_ops() { return kOps; }

}  // namespace attune
