#include "base/parallel.h"
#include "ops/contrib_qlinear.h"
#include "ops/conv_shape.h"
#include "ops/dispatch.h"
#include "ops/integer_product.h"
#include "ops/strided_walk.h"

#include <algorithm>

namespace attune {
namespace {

bool channels_last(const OpContext& context) { return context.attr_int("channels_last", 0) != 0; }

/// A tensor of images: where its spatial axes lie and how far apart channels and positions are, in elements.
struct ImageLayout {
  size_t first_spatial = 2;
  size_t rank = 0;  // spatial axes
  int64_t images = 1, channels = 1, positions = 1;
  int64_t image_step = 0, channel_step = 0, position_step = 0;
};

ImageLayout layout_of(const Dims& dims, bool last) {
  ImageLayout layout;
  layout.rank = dims.size() - 2;
  layout.first_spatial = last ? 1 : 2;
  layout.images = dims[0];
  layout.channels = last ? dims.back() : dims[1];
  layout.positions = element_count(std::span(dims).subspan(layout.first_spatial, layout.rank));
  layout.image_step = layout.channels * layout.positions;
  layout.channel_step = last ? 1 : layout.positions;
  layout.position_step = last ? layout.channels : 1;
  return layout;
}

void check_pool(InferContext& context) {
  infer_qlinear_unary(context);
  if (context.shape(0) && context.shape(0)->size() < 3)
    context.fail("input 0 has rank {}, expected a batch, channels and spatial axes", context.shape(0)->size());
}

}  // namespace

void infer_qlinear_global_average_pool(InferContext& context) {
  check_pool(context);
  std::optional<Shape> shape = context.shape(0);
  if (shape) {
    const auto first = shape->begin() + (channels_last(context) ? 1 : 2);
    std::fill(first, first + std::ssize(*shape) - 2, Dim(1));
  }
  context.set_output(0, context.dtype(0), std::move(shape));
}

void qlinear_global_average_pool_kernel(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const ImageLayout layout = layout_of(src.dims(), channels_last(context));
  const auto x = read_quantization(context, 1, 2);
  const auto y = read_quantization(context, 3, 4);
  const Requantize to = requantize_to(dst.dtype(), y.zero);
  if (dst.count() == 0) return;
  if (layout.positions == 0) context.fail("cannot average over images of {}", to_text(src.dims()));
  const float scale = x.scale / (y.scale * static_cast<float>(layout.positions));
  dispatch<TypeList<int8_t, uint8_t>>(src.dtype(), context, [&]<class T>() {
    const T* in = src.data<T>();
    T* out = dst.mutable_data<T>();
    const int64_t grain = std::max<int64_t>(1, 16'384 / layout.positions);
    parallel_for(layout.images * layout.channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* values = in + i / layout.channels * layout.image_step + i % layout.channels * layout.channel_step;
        int64_t sum = 0;
        for (int64_t p = 0; p < layout.positions; ++p) sum += values[p * layout.position_step];
        const double centered =
            static_cast<double>(sum) - static_cast<double>(x.zero) * static_cast<double>(layout.positions);
        out[i] = static_cast<T>(quantized_byte(static_cast<float>(centered) * scale, to));
      }
    });
  });
}

void infer_qlinear_average_pool(InferContext& context) {
  check_pool(context);
  std::optional<Shape> shape = context.shape(0);
  if (shape) {
    const Window window = read_pool_window(context, std::ssize(*shape) - 2);
    const size_t first = channels_last(context) ? 1 : 2;
    const Shape pooled = window_output(context, window, std::span(*shape).subspan(first, shape->size() - 2));
    std::copy(pooled.begin(), pooled.end(), shape->begin() + static_cast<std::ptrdiff_t>(first));
  }
  context.set_output(0, context.dtype(0), std::move(shape));
}

namespace {

/// The part of a window that lies inside the input along each axis, and the divisor of its average.
struct PoolWindow {
  Dims begin, size, step;
  int64_t inside = 1;
  double divisor = 1;  // with padding it may exceed the integers
};

PoolWindow pool_window(const std::vector<WindowAxis>& axes, std::span<const int64_t> position, bool include_pad) {
  PoolWindow window;
  for (size_t i = 0; i < axes.size(); ++i) {
    const WindowAxis& axis = axes[i];
    const int64_t start = axis.start(position[i]);
    const TapRange taps = taps_inside(axis, start);
    window.begin.push_back(start + taps.begin * axis.dilation);
    window.size.push_back(taps.end - taps.begin);
    window.step.push_back(axis.dilation);
    window.inside *= taps.end - taps.begin;
    // A window of ceil_mode may reach beyond the padding: what is not there does not count.
    const int64_t padded = (axis.in + axis.pad_end - start + axis.dilation - 1) / axis.dilation;
    window.divisor *= static_cast<double>(include_pad ? std::min(axis.kernel, padded) : taps.end - taps.begin);
  }
  return window;
}

}  // namespace

void qlinear_average_pool_kernel(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  const bool last = channels_last(context);
  const ImageLayout from = layout_of(src.dims(), last), into = layout_of(dst.dims(), last);
  const std::span<const int64_t> spatial = std::span(src.dims()).subspan(from.first_spatial, from.rank);
  const Window window = read_pool_window(context, static_cast<int64_t>(from.rank));
  const std::vector<WindowAxis> axes = window_axes(context, window, spatial);
  const bool include_pad = context.attr_int("count_include_pad", 0) != 0;
  const Dims strides = row_major_strides(spatial);
  const auto x = read_quantization(context, 1, 2);
  const auto y = read_quantization(context, 3, 4);
  // Dequantized, averaged and rounded together with the zero point in f32, as ONNX Runtime does: it decides ties.
  const Requantize to = requantize_to(dst.dtype(), 0.0f);
  Dims out_dims;
  for (const WindowAxis& axis : axes) out_dims.push_back(axis.out);
  if (dst.count() == 0) return;

  dispatch<TypeList<int8_t, uint8_t>>(src.dtype(), context, [&]<class T>() {
    const T* in = src.data<T>();
    T* out = dst.mutable_data<T>();
    parallel_for(into.positions, 16, [&](int64_t begin, int64_t end) {
      StridedWalk<0> positions(out_dims, {});
      positions.seek(begin);
      for (int64_t p = begin; p < end; ++p, positions.next()) {
        const PoolWindow taps = pool_window(axes, positions.index(), include_pad);
        Dims steps;
        int64_t origin = 0;
        for (size_t i = 0; i < axes.size(); ++i) {
          steps.push_back(taps.step[i] * strides[i]);
          origin += taps.begin[i] * strides[i];
        }
        for (int64_t i = 0; i < from.images * from.channels; ++i) {
          const int64_t image = i / from.channels, channel = i % from.channels;
          const T* values = in + image * from.image_step + channel * from.channel_step;
          float sum = 0;
          StridedWalk<1> walk(taps.size, {steps});
          for (int64_t tap = 0; tap < taps.inside; ++tap, walk.next())
            sum += x.scale * (static_cast<float>(values[(origin + walk.offset(0)) * from.position_step]) - x.zero);
          const float mean = taps.divisor > 0 ? sum / static_cast<float>(taps.divisor) : 0.0f;
          out[image * into.image_step + channel * into.channel_step + p * into.position_step] =
              static_cast<T>(quantized_byte(mean / y.scale + y.zero, to));
        }
      }
    });
  });
}

}  // namespace attune
