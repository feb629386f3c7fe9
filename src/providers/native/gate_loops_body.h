// The loops of gate_loops.h for vectors of LANES floats. Included by one file for each instruction set, as
// vector_math.h is.
#include "providers/native/gate_loops.h"
#include "providers/native/vector_math.h"

namespace attune::native {
namespace {

/// Rows that are summed up in registers at a time: what is rounded stays small, and their lines stay in the cache.
constexpr int64_t kRowsAtATime = 64;

/// One column of vectors, of which `valid` elements belong to the row. What a vector reads past the end of a row lies
/// in the next ones, but for the last of them.
template <class T> ALWAYS_INLINE Vector sum_column(const T* x, int64_t rows, int64_t width, int64_t valid) {
  const int64_t last = width >= LANES ? 1 : LANES / width + 1, whole = rows < last ? 0 : rows - last;
  Vector a = {}, b = {}, c = {}, d = {};
  int64_t row = 0;
  for (; row + 4 <= whole; row += 4, x += 4 * width) {
    a += load_as_float(x);
    b += load_as_float(x + width);
    c += load_as_float(x + 2 * width);
    d += load_as_float(x + 3 * width);
  }
  for (; row < whole; ++row, x += width) a += load_as_float(x);
  for (; row < rows; ++row, x += width) b += load_some(x, valid);
  return (a + b) + (c + d);
}

template <class T> void add_rows(const T* x, int64_t rows, int64_t width, float* sums) {
  for (int64_t first = 0; first < rows; first += kRowsAtATime, x += kRowsAtATime * width) {
    const int64_t count = rows - first < kRowsAtATime ? rows - first : kRowsAtATime;
    int64_t column = 0;
    for (; column + 4 * LANES <= width; column += 4 * LANES) {
      Vector a = {}, b = {}, c = {}, d = {};
      for (int64_t row = 0; row < count; ++row) {
        const T* at = x + row * width + column;
        a += load_as_float(at);
        b += load_as_float(at + LANES);
        c += load_as_float(at + 2 * LANES);
        d += load_as_float(at + 3 * LANES);
      }
      float* to = sums + column;
      store(to, load(to) + a);
      store(to + LANES, load(to + LANES) + b);
      store(to + 2 * LANES, load(to + 2 * LANES) + c);
      store(to + 3 * LANES, load(to + 3 * LANES) + d);
    }
    for (; column < width; column += LANES)
      store(sums + column, load(sums + column) + sum_column(x + column, count, width, width - column));
  }
}

template <class T> void scale_rows(const T* x, int64_t rows, int64_t width, const float* gates, T* y) {
  for (int64_t row = 0; row < rows; ++row, x += width, y += width) {
    if (width < LANES) {
      store_some(y, load_some(x, width) * load(gates), width);
      continue;
    }
    // The last vector overlaps the one before it; it is read first, since y may be x.
    const int64_t last = width - LANES;
    const Vector end = load_as_float(x + last) * load(gates + last);
    for (int64_t column = 0; column < last; column += LANES)
      store_as(y + column, load_as_float(x + column) * load(gates + column));
    store_as(y + last, end);
  }
}

template <class T> float sum(const T* x, int64_t count) {
  Vector a = {}, b = {}, c = {}, d = {};
  int64_t i = 0;
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
    a += load_as_float(x + i);
    b += load_as_float(x + i + LANES);
    c += load_as_float(x + i + 2 * LANES);
    d += load_as_float(x + i + 3 * LANES);
  }
  for (; i < count; i += LANES) a += load_some(x + i, count - i);
  const Vector all = (a + b) + (c + d);
  float total = 0;
  for (int lane = 0; lane < LANES; ++lane) total += all[lane];
  return total;
}

template <class T> void scale(const T* x, int64_t count, float gate, T* y) {
  for (int64_t i = 0; i < count; i += LANES) store_some(y + i, load_some(x + i, count - i) * gate, count - i);
}

void dot_rows(const float* weights, int64_t rows, int64_t padded, const float* x, const float* bias, float* y) {
  for (int64_t row = 0; row < rows; ++row, weights += padded) {
    Vector a = {}, b = {};
    int64_t i = 0;
    for (; i + 2 * LANES <= padded; i += 2 * LANES) {
      a += load(weights + i) * load(x + i);
      b += load(weights + i + LANES) * load(x + i + LANES);
    }
    if (i < padded) a += load(weights + i) * load(x + i);
    const Vector both = a + b;
    float total = bias[row];
    for (int lane = 0; lane < LANES; ++lane) total += both[lane];
    y[row] = total;
  }
}

void combine_rows(const float* weights, int64_t rows, int64_t padded, const float* x, const float* bias, float* y) {
  int64_t i = 0;
  for (; i + 4 * LANES <= padded; i += 4 * LANES) {
    Vector a = load(bias + i), b = load(bias + i + LANES), c = load(bias + i + 2 * LANES),
           d = load(bias + i + 3 * LANES);
    for (int64_t row = 0; row < rows; ++row) {
      const float* at = weights + row * padded + i;
      a += load(at) * x[row];
      b += load(at + LANES) * x[row];
      c += load(at + 2 * LANES) * x[row];
      d += load(at + 3 * LANES) * x[row];
    }
    store(y + i, a);
    store(y + i + LANES, b);
    store(y + i + 2 * LANES, c);
    store(y + i + 3 * LANES, d);
  }
  for (; i < padded; i += LANES) {
    Vector a = load(bias + i);
    for (int64_t row = 0; row < rows; ++row) a += load(weights + row * padded + i) * x[row];
    store(y + i, a);
  }
}

ALWAYS_INLINE Vector bounded(Vector x, float low, float high) {
  return larger(smaller(x, Vector{} + high), Vector{} + low);
}

ALWAYS_INLINE Vector applied(const GateStep& step, Vector x) {
  switch (step.function) {
    case GateFunction::relu: return larger(x, Vector{});
    case GateFunction::leaky_relu: return x < Vector{} ? x * step.alpha : x;
    case GateFunction::sigmoid: return sigmoid(x);
    case GateFunction::swish: return x * sigmoid(x * step.alpha);
    case GateFunction::hard_sigmoid: return bounded(x * step.alpha + step.beta, 0, 1);
    case GateFunction::hard_swish: return x * bounded(x * (1.0F / 6) + 0.5F, 0, 1);
    case GateFunction::clip: return bounded(x, step.alpha, step.beta);
    case GateFunction::shift: return x + step.alpha;
    case GateFunction::scale: return x * step.alpha;
  }
  return x;
}

void apply(const GateStep* steps, int64_t count, float* values, int64_t padded) {
  for (int64_t i = 0; i < padded; i += LANES) {
    const Vector given = load(values + i);
    Vector x = given;
    for (int64_t step = 0; step < count; ++step) x = applied(steps[step], x);
    store(values + i, given == given ? x : given);  // what is no number stays none
  }
}

template <class T> constexpr MapLoops<T> map_loops() { return {add_rows<T>, scale_rows<T>, sum<T>, scale<T>}; }

}  // namespace
}  // namespace attune::native
