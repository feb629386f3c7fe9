#include "ops/conv_float.h"

#include "base/parallel.h"
#include "ops/gemm.h"
#include "ops/gemm_kernels.h"
#include "ops/im2col.h"
#include "ops/matrix_product.h"

#include <memory>

namespace attune {
namespace {

constexpr int64_t kColumnElements = 1 << 19;  // 2 MB of floats for one block of columns
constexpr int64_t kFewestColumns = 64;        // below this the matrix product spends its time on packing the weights
constexpr int64_t kMostColumns = 1024;

template <class T> struct Convolution {
  const ConvGeometry& geometry;
  const T* src;
  const T* weights;
  const T* bias;
  T* dst;
  int64_t in_size, out_size, kernel_size;

  // Of group `task % groups` of image `task / groups`.
  const T* src_of(int64_t task) const { return src + task * geometry.in_channels * in_size; }
  T* dst_of(int64_t task) const { return dst + task * geometry.out_channels * out_size; }
  const T* weights_of(int64_t task) const {
    return weights + task % geometry.groups * geometry.out_channels * geometry.in_channels * kernel_size;
  }
  const T* bias_of(int64_t task) const {
    return bias == nullptr ? nullptr : bias + task % geometry.groups * geometry.out_channels;
  }
};

template <class T> void add_bias(const Convolution<T>& conv, int64_t task, int64_t first, int64_t count) {
  const T* bias = conv.bias_of(task);
  if (bias == nullptr) return;
  for (int64_t c = 0; c < conv.geometry.out_channels; ++c) {
    T* row = conv.dst_of(task) + c * conv.out_size + first;
    for (int64_t j = 0; j < count; ++j) row[j] += bias[c];
  }
}

bool is_pointwise(const ConvGeometry& geometry) {
  return std::all_of(geometry.axes.begin(), geometry.axes.end(), [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.pad_begin == 0 && axis.pad_end == 0;
  });
}

template <class T> void convolve_pointwise(const Convolution<T>& conv) {
  const ConvGeometry& g = conv.geometry;
  const double work =
      static_cast<double>(g.out_channels) * static_cast<double>(g.in_channels) * static_cast<double>(conv.out_size);
  for_each_product(g.batch * g.groups, work, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      gemm(g.out_channels, conv.out_size, g.in_channels, MatrixView<T>{conv.weights_of(task), g.in_channels, 1},
           MatrixView<T>{conv.src_of(task), conv.in_size, 1}, conv.dst_of(task), conv.out_size);
      add_bias(conv, task, 0, conv.out_size);
    }
  });
}

/// One row of outputs of one channel pair, accumulated in double.
template <class T>
void add_row(const GemmKernels<T>& kernels, const WindowAxis& axis, const T* row, const T* taps, double* sums) {
  for (int64_t tap = 0; tap < axis.kernel; ++tap) {
    const OutRange range = outs_inside(axis, tap);
    if (range.begin == range.end) continue;
    const T* in = row + range.begin * axis.stride - axis.pad_begin + tap * axis.dilation;
    const auto factor = static_cast<double>(taps[tap]);
    if (axis.stride == 1)
      kernels.add_scaled(range.end - range.begin, factor, in, sums + range.begin);
    else
      for (int64_t x = range.begin; x < range.end; ++x)
        sums[x] += factor * static_cast<double>(in[(x - range.begin) * axis.stride]);
  }
}

/// One input channel for each group: too thin for a matrix product, so rows are summed directly.
template <class T> void convolve_depthwise(const Convolution<T>& conv) {
  const ConvGeometry& g = conv.geometry;
  const WindowAxis& last = g.axes.back();
  const int64_t rows = conv.out_size / last.out, outer_taps = conv.kernel_size / last.kernel;
  Dims outer_kernel;
  for (size_t i = 0; i + 1 < g.axes.size(); ++i) outer_kernel.push_back(g.axes[i].kernel);
  const GemmKernels<T>& kernels = gemm_kernels<T>().front();
  const int64_t work = std::max<int64_t>(1, last.out * conv.kernel_size);
  parallel_for(g.batch * g.groups * g.out_channels * rows, std::max<int64_t>(1, (1 << 14) / work),
               [&](int64_t begin, int64_t end) {
                 const auto sums = std::make_unique<double[]>(static_cast<size_t>(last.out));
                 TapRows tap_rows(g.axes);
                 StridedWalk<0> tap_walk(outer_kernel, {});
                 for (int64_t at = begin; at < end; ++at) {
                   const int64_t plane = at / rows, task = plane / g.out_channels, channel = plane % g.out_channels;
                   const T* bias = conv.bias_of(task);
                   std::fill_n(sums.get(), last.out, bias ? static_cast<double>(bias[channel]) : 0.0);
                   tap_rows.seek_row(at % rows);
                   const T* taps = conv.weights_of(task) + channel * conv.kernel_size;
                   for (int64_t tap = 0; tap < outer_taps; ++tap, tap_walk.next()) {
                     const int64_t offset = tap_rows.row_offset(tap_walk.index());
                     if (offset >= 0)
                       add_row(kernels, last, conv.src_of(task) + offset, taps + tap * last.kernel, sums.get());
                   }
                   T* out = conv.dst + at * last.out;
                   for (int64_t x = 0; x < last.out; ++x) out[x] = static_cast<T>(sums[static_cast<size_t>(x)]);
                 }
               });
}

template <class T> void convolve_columns(const Convolution<T>& conv) {
  const ConvGeometry& g = conv.geometry;
  const int64_t depth = g.in_channels * conv.kernel_size, tasks = g.batch * g.groups;
  // Some blocks for every thread, within the memory for one.
  const int64_t wanted_blocks = (4 * int64_t{thread_count()} + tasks - 1) / tasks;
  const int64_t fitting = std::clamp(kColumnElements / depth, kFewestColumns, kMostColumns);
  const int64_t columns = std::clamp((conv.out_size + wanted_blocks - 1) / wanted_blocks, kFewestColumns, fitting);
  const int64_t blocks = (conv.out_size + columns - 1) / columns;
  const double work = static_cast<double>(g.out_channels) * static_cast<double>(depth) * static_cast<double>(columns);
  for_each_product(tasks * blocks, work, [&](int64_t begin, int64_t end) {
    const int64_t width = std::min(columns, conv.out_size);
    Tensor buffer = Tensor::allocate(dtype_of<T>(), {depth, width});
    T* block = buffer.mutable_data<T>();
    for (int64_t at = begin; at < end; ++at) {
      const int64_t task = at / blocks, first = at % blocks * columns;
      const int64_t count = std::min(columns, conv.out_size - first);
      im2col<T>(g, conv.src_of(task), first, count, T{}, block, count);
      gemm(g.out_channels, count, depth, MatrixView<T>{conv.weights_of(task), depth, 1}, MatrixView<T>{block, count, 1},
           conv.dst_of(task) + first, conv.out_size);
      add_bias(conv, task, first, count);
    }
  });
}

template <class T> void convolve_any(ConvGeometry geometry, const T* src, const T* weights, const T* bias, T* dst) {
  if (geometry.axes.empty()) geometry.axes.push_back({.in = 1, .out = 1});
  const Convolution<T> conv{
      geometry, src, weights, bias, dst, geometry.in_size(), geometry.out_size(), geometry.kernel_size()};
  const int64_t tasks = geometry.batch * geometry.groups;
  if (tasks * geometry.out_channels * conv.out_size == 0) return;
  if (geometry.in_channels == 0 || conv.in_size == 0) {
    std::fill_n(dst, tasks * geometry.out_channels * conv.out_size, T{});
    for (int64_t task = 0; task < tasks; ++task) add_bias(conv, task, 0, conv.out_size);
  } else if (geometry.groups > 1 && geometry.in_channels == 1) {
    convolve_depthwise(conv);
  } else if (is_pointwise(geometry)) {
    convolve_pointwise(conv);
  } else {
    convolve_columns(conv);
  }
}

}  // namespace

void convolve(const ConvGeometry& geometry, const float* src, const float* weights, const float* bias, float* dst) {
  convolve_any(geometry, src, weights, bias, dst);
}
void convolve(const ConvGeometry& geometry, const double* src, const double* weights, const double* bias, double* dst) {
  convolve_any(geometry, src, weights, bias, dst);
}

}  // namespace attune
