#include "tensor_compare.h"

#include <cmath>
#include <cstring>

namespace attune::test {
namespace {

double element(const Tensor& tensor, int64_t i) {
  const auto byte = [&](int64_t at) { return static_cast<uint8_t>(tensor.bytes()[at]); };
  switch (tensor.dtype()) {
    case DType::f64: return tensor.data<double>()[i];
    case DType::f32: return tensor.data<float>()[i];
    case DType::f16: return static_cast<float>(tensor.data<Half>()[i]);
    case DType::bf16: return static_cast<float>(tensor.data<BFloat16>()[i]);
    case DType::f8e4m3fn: return f8e4m3fn_to_float(byte(i));
    case DType::f8e4m3fnuz: return f8e4m3fnuz_to_float(byte(i));
    case DType::f8e5m2: return f8e5m2_to_float(byte(i));
    case DType::f8e5m2fnuz: return f8e5m2fnuz_to_float(byte(i));
    case DType::f8e8m0: return f8e8m0_to_float(byte(i));
    default: throw InternalError("no element access for {}", dtype_name(tensor.dtype()));
  }
}

bool same_float(double actual, double expected, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

}  // namespace

std::string compare(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  if (actual.dtype() != expected.dtype())
    return fmt::format("dtype {}, expected {}", dtype_name(actual.dtype()), dtype_name(expected.dtype()));
  if (actual.dims() != expected.dims())
    return fmt::format("shape {}, expected {}", to_text(actual.dims()), to_text(expected.dims()));
  if (!is_float(actual.dtype()) || is_packed(actual.dtype())) {
    if (std::memcmp(actual.bytes(), expected.bytes(), static_cast<size_t>(actual.size_bytes())) == 0) return "";
    for (int64_t i = 0; i < actual.size_bytes(); ++i)
      if (actual.bytes()[i] != expected.bytes()[i])
        return fmt::format("byte {} of {} is {}, expected {}", i, dtype_name(actual.dtype()),
                           static_cast<int>(actual.bytes()[i]), static_cast<int>(expected.bytes()[i]));
  }
  // Two units in the last place of bf16, as the onnx package's own runner grants them.
  Tolerance granted = tolerance;
  if (actual.dtype() == DType::bf16) granted.relative = std::max(granted.relative, 0x1p-6);
  for (int64_t i = 0; i < actual.count(); ++i) {
    const double a = element(actual, i), e = element(expected, i);
    if (!same_float(a, e, granted)) return fmt::format("element {} is {}, expected {}", i, a, e);
  }
  return "";
}

}  // namespace attune::test
