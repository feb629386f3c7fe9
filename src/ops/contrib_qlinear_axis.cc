#include "base/parallel.h"
#include "ops/contrib_qlinear.h"
#include "ops/dispatch.h"
#include "ops/dtype_checks.h"
#include "ops/integer_product.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attune {

// Inputs: x, x_scale, x_zero_point, y_scale, y_zero_point.
void infer_qlinear_softmax(InferContext& context) {
  infer_qlinear_unary(context);
  context.attr_int("opset");
  if (context.shape(0)) context.axis_in_range(context.attr_int("axis", -1), std::ssize(*context.shape(0)));
}

void qlinear_softmax_kernel(KernelContext& context) {
  constexpr int64_t kAlongOneAxis = 13;  // before: over all axes from `axis` on
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const auto at = static_cast<size_t>(context.axis_in_range(context.attr_int("axis", -1), src.rank()));
  const bool one_axis = context.attr_int("opset") >= kAlongOneAxis;
  const std::span<const int64_t> dims(src.dims());
  const int64_t inner = one_axis ? element_count(dims.subspan(at + 1)) : 1;
  const int64_t length = one_axis ? dims[at] : element_count(dims.subspan(at));
  const auto x = read_quantization(context, 1, 2);
  const auto y = read_quantization(context, 3, 4);
  const Requantize to = requantize_to(dst.dtype(), y.zero);
  std::array<double, 511> powers{};  // of every difference of two bytes
  for (size_t i = 0; i < powers.size(); ++i)
    powers[i] = std::exp(static_cast<double>(x.scale) * (static_cast<double>(i) - 255.0));

  dispatch<TypeList<int8_t, uint8_t>>(src.dtype(), context, [&]<class T>() {
    const T* in = src.data<T>();
    T* out = dst.mutable_data<T>();
    parallel_for(src.count() / length, std::max<int64_t>(1, 4'096 / length), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t offset = row / inner * length * inner + row % inner;
        T largest = in[offset];
        for (int64_t i = 1; i < length; ++i) largest = std::max(largest, in[offset + i * inner]);
        auto power = [&](int64_t i) { return powers[static_cast<size_t>(in[offset + i * inner] - largest + 255)]; };
        double sum = 0;
        for (int64_t i = 0; i < length; ++i) sum += power(i);
        for (int64_t i = 0; i < length; ++i)
          out[offset + i * inner] =
              static_cast<T>(quantized_byte(static_cast<float>(power(i) / sum / static_cast<double>(y.scale)), to));
      }
    });
  });
}

namespace {

// Inputs: y_scale, y_zero_point, then (x, x_scale, x_zero_point) for each operand.
constexpr int kFirstOperand = 2;

int operand_count(const OpContext& context) {
  const int rest = context.input_count() - kFirstOperand;
  if (rest < 3 || rest % 3 != 0)
    context.fail("{} inputs: expected a scale, a zero point and then three for each operand", context.input_count());
  return rest / 3;
}

}  // namespace

void infer_qlinear_concat(InferContext& context) {
  require_byte(context, 1);
  const DType dtype = context.dtype(1);
  check_quantization(context, 0, 1, dtype);
  std::optional<Shape> result;
  bool known = true;
  Dim total(0);
  const int count = operand_count(context);
  for (int i = 0; i < count; ++i) {
    const int input = kFirstOperand + 3 * i;
    require_input(context, input);
    require_input(context, input + 1);
    check_quantization(context, input + 1, input + 2, dtype);
    require_byte(context, input);
    if (context.dtype(input) != dtype && context.dtype(input) != DType::undefined && dtype != DType::undefined)
      context.fail("input {} has dtype {}, the output {}", input, dtype_name(context.dtype(input)), dtype_name(dtype));
    const auto& shape = context.shape(input);
    if (!shape) {
      known = false;
      continue;
    }
    const auto at = static_cast<size_t>(context.axis_in_range(context.attr_int("axis"), std::ssize(*shape)));
    total = total + (*shape)[at];
    if (!result) {
      result = shape;
      continue;
    }
    if (shape->size() != result->size())
      context.fail("operands of rank {} and {} cannot be joined", result->size(), shape->size());
    for (size_t axis = 0; axis < shape->size(); ++axis) {
      Dim& own = (*result)[axis];
      const Dim& other = (*shape)[axis];
      if (axis == at) continue;
      if (own.is_known() && other.is_known() && own.value() != other.value())
        context.fail("operands differ in axis {}: {} and {}", axis, own.value(), other.value());
      if (!own.is_known() && other.is_known()) own = other;
    }
  }
  if (result) {
    const auto at = static_cast<size_t>(context.axis_in_range(context.attr_int("axis"), std::ssize(*result)));
    (*result)[at] = known ? total : Dim::unknown();
  }
  context.set_output(0, dtype, std::move(result));
}

void qlinear_concat_kernel(KernelContext& context) {
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const auto y = read_quantization(context, 0, 1);
  const Requantize to = requantize_to(dst.dtype(), y.zero);
  const auto at = static_cast<size_t>(context.axis_in_range(context.attr_int("axis"), dst.rank()));
  const int64_t outer = element_count(std::span(dst.dims()).first(at));
  const int64_t dst_row = dst.count() / outer;
  uint8_t* out = dst.mutable_data<uint8_t>();
  for (int i = 0; i < operand_count(context); ++i) {
    const int input = kFirstOperand + 3 * i;
    const Tensor& src = context.input(input);
    const auto x = read_quantization(context, input + 1, input + 2);
    std::array<uint8_t, 256> table{};
    for (size_t byte = 0; byte < table.size(); ++byte)
      table[byte] =
          quantized_byte(x.scale * (byte_value(static_cast<uint8_t>(byte), src.dtype()) - x.zero) / y.scale, to);
    const int64_t row = src.count() / outer;
    const uint8_t* in = src.data<uint8_t>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t j = 0; j < row; ++j) out[o * dst_row + j] = table[in[o * row + j]];
    out += row;
  }
}

}  // namespace attune
