// The inner loops of squeeze-and-excite blocks, compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace attune::native {

enum class GateFunction : uint8_t {
  relu,
  leaky_relu,    // alpha
  sigmoid,       //
  swish,         // alpha
  hard_sigmoid,  // alpha, beta
  hard_swish,    //
  clip,          // from alpha to beta
  shift,         // by alpha
  scale,         // by alpha
};
struct GateStep {
  GateFunction function = GateFunction::relu;
  float alpha = 0, beta = 0;
};

/// On elements of f32, or of bf16 as its bits. What is summed up is f32. Results may lie where the elements do.
template <class T> struct MapLoops {
  /// Adds rows of `width` elements, which follow each other, to `sums`. Those have room for whole vectors; what lies
  /// beyond the width is undefined afterwards.
  void (*add_rows)(const T* x, int64_t rows, int64_t width, float* sums);
  /// Multiplies such rows with `gates`.
  void (*scale_rows)(const T* x, int64_t rows, int64_t width, const float* gates, T* y);
  float (*sum)(const T* x, int64_t count);
  void (*scale)(const T* x, int64_t count, float gate, T* y);
};

/// Rows of f32 that are `padded` wide fill whole vectors, zeros at the end.
struct GateLoops {
  const char* name;
  int64_t lanes;
  MapLoops<float> f32;
  MapLoops<uint16_t> bf16;
  /// y[i] = bias[i] + the sum of weights[i] * x, for each of the rows.
  void (*dot_rows)(const float* weights, int64_t rows, int64_t padded, const float* x, const float* bias, float* y);
  /// y = bias + the sum of x[i] * weights[i] over the rows.
  void (*combine_rows)(const float* weights, int64_t rows, int64_t padded, const float* x, const float* bias, float* y);
  /// All steps on each value; `padded` of them.
  void (*apply)(const GateStep* steps, int64_t count, float* values, int64_t padded);

  template <class T> const MapLoops<T>& map() const {
    if constexpr (sizeof(T) == sizeof(float))
      return f32;
    else
      return bf16;
  }
};

extern const GateLoops kGatesBaseline;  // any processor of the architecture
#ifdef __x86_64__
extern const GateLoops kGatesAvx2;    // with FMA
extern const GateLoops kGatesAvx512;  // AVX-512F
#endif

/// The best that this machine runs.
const GateLoops& gate_loops();

}  // namespace attune::native
