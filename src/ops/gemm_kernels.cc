#include "ops/gemm_kernels.h"

#include <cstring>
#include <vector>

// Vectors only live inside functions that are inlined into their instruction set's wrapper, so no ABI is involved.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace attune {
namespace {

#define ATTUNE_INLINE [[gnu::always_inline]] inline

template <int Lanes> struct Vectors {
  typedef double Double __attribute__((vector_size(Lanes * 8)));
  typedef float Float __attribute__((vector_size(Lanes * 4)));
};

template <int Lanes> ATTUNE_INLINE void load(const double* from, typename Vectors<Lanes>::Double& to) {
  std::memcpy(&to, from, sizeof to);
}
template <int Lanes> ATTUNE_INLINE void load(const float* from, typename Vectors<Lanes>::Double& to) {
  typename Vectors<Lanes>::Float narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  to = __builtin_convertvector(narrow, typename Vectors<Lanes>::Double);
}

template <int Lanes, int Width, class T> ATTUNE_INLINE void pack(const T* src, int64_t line_stride,
                                                                 int64_t depth_stride, int64_t lines, int64_t depth,
                                                                 double* panel) {
  if (lines == Width && line_stride == 1 && Width % Lanes == 0) {
    for (int64_t p = 0; p < depth; ++p) {
      const T* row = src + p * depth_stride;
      for (int i = 0; i < Width; i += Lanes) {
        typename Vectors<Lanes>::Double values;
        load<Lanes>(row + i, values);
        std::memcpy(panel + p * Width + i, &values, sizeof values);
      }
    }
    return;
  }
  if (lines == Width) {
    for (int64_t p = 0; p < depth; ++p)
      for (int i = 0; i < Width; ++i)
        panel[p * Width + i] = static_cast<double>(src[i * line_stride + p * depth_stride]);
    return;
  }
  for (int64_t p = 0; p < depth; ++p)
    for (int i = 0; i < Width; ++i)
      panel[p * Width + i] = i < lines ? static_cast<double>(src[i * line_stride + p * depth_stride]) : 0.0;
}

/// The tile stays in registers while the two panels stream by.
template <int Lanes, int Rows, int Columns>
ATTUNE_INLINE void tile_product(int64_t depth, const double* a, const double* b, double* tile, TileStart start) {
  using Vector = typename Vectors<Lanes>::Double;
  constexpr int kVectors = Columns / Lanes;
  Vector sums[Rows][kVectors] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Vector right[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) load<Lanes>(b + p * Columns + v * Lanes, right[v]);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const double left = a[p * Rows + i];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[i][v] += left * right[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      double* out = tile + i * Columns + v * Lanes;
      if (start == TileStart::accumulate) {
        Vector before;
        load<Lanes>(out, before);
        sums[i][v] += before;
      }
      std::memcpy(out, &sums[i][v], sizeof(Vector));
    }
  }
}

template <int Lanes, class T> ATTUNE_INLINE void scaled_sum(int64_t count, double factor, const T* row, double* sums) {
  int64_t j = 0;
  for (; j + Lanes <= count; j += Lanes) {
    typename Vectors<Lanes>::Double values, sum;
    load<Lanes>(row + j, values);
    load<Lanes>(sums + j, sum);
    sum += factor * values;
    std::memcpy(sums + j, &sum, sizeof sum);
  }
  for (; j < count; ++j) sums[j] += factor * static_cast<double>(row[j]);
}

template <int Lanes, class T> ATTUNE_INLINE double inner_product(int64_t count, const T* x, const T* y) {
  using Vector = typename Vectors<Lanes>::Double;
  constexpr int kChains = 4;  // independent sums hide the latency of the adder
  Vector sums[kChains] = {};
  int64_t i = 0;
  for (; i + kChains * Lanes <= count; i += kChains * Lanes) {
#pragma GCC unroll 4
    for (int c = 0; c < kChains; ++c) {
      Vector left, right;
      load<Lanes>(x + i + c * Lanes, left);
      load<Lanes>(y + i + c * Lanes, right);
      sums[c] += left * right;
    }
  }
  const Vector joined = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double result = 0;
  for (int lane = 0; lane < Lanes; ++lane) result += joined[lane];
  for (; i < count; ++i) result += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return result;
}

// The wrappers differ in nothing but their instruction set and tile; a target attribute cannot be a template argument.
#define ATTUNE_GEMM_KERNELS(NAME, ATTRIBUTE, LANES, ROWS, COLUMNS)                                                   \
  template <class T> struct NAME {                                                                                   \
    ATTRIBUTE static void pack_a(const T* src, int64_t line_stride, int64_t depth_stride, int64_t lines,             \
                                 int64_t depth, double* panel) {                                                     \
      pack<LANES, ROWS>(src, line_stride, depth_stride, lines, depth, panel);                                        \
    }                                                                                                                \
    ATTRIBUTE static void pack_b(const T* src, int64_t line_stride, int64_t depth_stride, int64_t lines,             \
                                 int64_t depth, double* panel) {                                                     \
      pack<LANES, COLUMNS>(src, line_stride, depth_stride, lines, depth, panel);                                     \
    }                                                                                                                \
    ATTRIBUTE static void multiply_tile(int64_t depth, const double* a, const double* b, double* tile,               \
                                        TileStart start) {                                                           \
      tile_product<LANES, ROWS, COLUMNS>(depth, a, b, tile, start);                                                  \
    }                                                                                                                \
    ATTRIBUTE static void add_scaled(int64_t count, double factor, const T* row, double* sums) {                     \
      scaled_sum<LANES>(count, factor, row, sums);                                                                   \
    }                                                                                                                \
    ATTRIBUTE static double dot(int64_t count, const T* x, const T* y) { return inner_product<LANES>(count, x, y); } \
    static constexpr GemmKernels<T> kKernels{#NAME, ROWS, COLUMNS, pack_a, pack_b, multiply_tile, add_scaled, dot};  \
  }

// Tiles fill the register file: 32 registers of 8 lanes, 16 of 4, 16 of 2; some remain for the operands.
#if defined(__x86_64__)
ATTUNE_GEMM_KERNELS(avx512, __attribute__((target("avx512f"))), 8, 8, 16);
ATTUNE_GEMM_KERNELS(avx2, __attribute__((target("avx2,fma"))), 4, 6, 8);
#endif
ATTUNE_GEMM_KERNELS(baseline, , 2, 4, 4);

#undef ATTUNE_GEMM_KERNELS
#undef ATTUNE_INLINE

template <class T> std::vector<GemmKernels<T>> supported_kernels() {
  std::vector<GemmKernels<T>> kernels;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) kernels.push_back(avx512<T>::kKernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels.push_back(avx2<T>::kKernels);
#endif
  kernels.push_back(baseline<T>::kKernels);
  return kernels;
}

}  // namespace

template <class T> std::span<const GemmKernels<T>> gemm_kernels() {
  static const std::vector<GemmKernels<T>> kernels = supported_kernels<T>();
  return kernels;
}

template std::span<const GemmKernels<float>> gemm_kernels<float>();
template std::span<const GemmKernels<double>> gemm_kernels<double>();

}  // namespace attune
