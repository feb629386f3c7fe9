#include "ops/integer_product.h"

#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/dispatch.h"

#include <algorithm>
#include <array>

namespace attune {
namespace {

constexpr int64_t kColumns = 128;    // sums that stay in registers and L1 while a row of a is walked
constexpr int64_t kGrain = 1 << 16;  // multiplications in one task

using Sums = std::array<uint32_t, kColumns>;  // unsigned: overflow wraps

void add_products(int64_t k, int64_t n, int64_t width, const int16_t* a, const int16_t* b, Sums& sums) {
  for (int64_t p = 0; p < k; ++p) {
    const int32_t factor = a[p];
    const int16_t* row = b + p * n;
    if (width == kColumns) {  // a constant trip count vectorises without a tail
      for (int64_t j = 0; j < kColumns; ++j) sums[static_cast<size_t>(j)] += static_cast<uint32_t>(factor * row[j]);
    } else {
      for (int64_t j = 0; j < width; ++j) sums[static_cast<size_t>(j)] += static_cast<uint32_t>(factor * row[j]);
    }
  }
}

}  // namespace

void integer_product(int64_t m, int64_t n, int64_t k, const int16_t* a, const int16_t* b, int32_t* dst) {
  const int64_t blocks = (n + kColumns - 1) / kColumns;
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, k * kColumns));
  parallel_for(m * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task % m, first = task / m * kColumns;  // all rows use a block of b while it is in cache
      const int64_t width = std::min(kColumns, n - first);
      Sums sums{};
      add_products(k, n, width, a + row * k, b + first, sums);
      for (int64_t j = 0; j < width; ++j) dst[row * n + first + j] = static_cast<int32_t>(sums[static_cast<size_t>(j)]);
    }
  });
}

LineParameters line_parameters(const OpContext& context, const Dims& operand, const Dims& parameter, Lines lines) {
  if (element_count(parameter) == 1) return {};
  const bool vector = operand.size() < 2;
  const int64_t count = vector ? 1 : lines == Lines::rows ? operand[operand.size() - 2] : operand.back();
  if (!vector && parameter.size() == 1 && parameter[0] == count) return {.matrix_step = 0, .line_step = 1};
  if (!vector && parameter.size() == operand.size()) {
    Dims each = operand, shared(operand.size(), 1);
    each[operand.size() - (lines == Lines::rows ? 1 : 2)] = 1;
    shared[operand.size() - (lines == Lines::rows ? 2 : 1)] = count;
    if (parameter == shared) return {.matrix_step = 0, .line_step = 1};
    if (parameter == each) return {.matrix_step = count, .line_step = 1};
  }
  context.fail("a scale or zero point of shape {} fits neither an operand of {} as a whole nor its {}",
               to_text(parameter), to_text(operand), lines == Lines::rows ? "rows" : "columns");
}

Tensor centered_matrices(const OpContext& context, const Tensor& operand, const Tensor* zero, Lines lines) {
  Tensor result = Tensor::allocate(DType::i16, operand.dims());
  if (operand.count() == 0) return result;
  const LineParameters parameters =
      zero == nullptr ? LineParameters{} : line_parameters(context, operand.dims(), zero->dims(), lines);
  const Tensor zeros = zero == nullptr ? Tensor::scalar<int16_t>(0) : convert(*zero, DType::i16);
  const int16_t* z = zeros.data<int16_t>();
  const int64_t columns = operand.dims().back();
  const int64_t rows = operand.rank() < 2 ? 1 : operand.dim(operand.rank() - 2);
  const int64_t row_step = lines == Lines::rows ? parameters.line_step : 0;
  const int64_t column_step = lines == Lines::columns ? parameters.line_step : 0;
  dispatch<TypeList<int8_t, uint8_t>>(operand.dtype(), context, [&]<class T>() {
    const T* src = operand.data<T>();
    int16_t* dst = result.mutable_data<int16_t>();
    parallel_for(operand.count() / columns, std::max<int64_t>(1, kGrain / columns), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int16_t* own = z + parameters.matrix_step * (line / rows) + row_step * (line % rows);
        const T* x = src + line * columns;
        int16_t* y = dst + line * columns;
        for (int64_t i = 0; i < columns; ++i) y[i] = static_cast<int16_t>(x[i] - own[i * column_step]);
      }
    });
  });
  return result;
}

void require_byte(const InferContext& context, int input) {
  if (!context.has_input(input)) return;
  const DType dtype = context.dtype(input);
  if (dtype != DType::undefined && dtype != DType::i8 && dtype != DType::u8)
    context.fail("input {} has dtype {}, expected i8 or u8", input, dtype_name(dtype));
}

void require_single(const InferContext& context, int input, std::string_view name) {
  if (!context.has_input(input)) return;
  const auto dims = concrete(context.shape(input));
  if (dims && checked_count(*dims) != 1)
    context.fail("input {} ({}) has shape {}, expected a scalar", input, name, to_text(*dims));
}

Requantize requantize_to(DType dtype, float zero) {
  const bool with_sign = is_signed(dtype);
  return {.scale = 1.0f, .zero = zero, .low = with_sign ? -128.0f : 0.0f, .high = with_sign ? 127.0f : 255.0f};
}

}  // namespace attune
