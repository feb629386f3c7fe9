// ConvTranspose and Col2Im: both add columns of windows back into an image.
#include "base/parallel.h"
#include "ops/col2im.h"
#include "ops/conv_transpose_axes.h"
#include "ops/conv_transpose_col2im.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/gemm.h"
#include "ops/matrix_product.h"
#include "ops/wide_tensor.h"

#include <memory>

namespace attune {
namespace {

constexpr int64_t kMostExtent = int64_t{1} << 60;

/// The attributes of ConvTranspose for one spatial rank.
struct TransposeWindow {
  Window window;
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;  // empty: not given
};

TransposeWindow read_transpose_window(const OpContext& context, std::vector<int64_t> kernel) {
  const auto rank = static_cast<int64_t>(kernel.size());
  TransposeWindow result;
  result.window = read_window(context, std::move(kernel));
  result.output_padding = spatial_attr(context, "output_padding", rank, 0, 0);
  if (context.has_attr("output_shape") && !context.attr_ints("output_shape").empty()) {
    result.output_shape = context.attr_ints("output_shape");
    // Some exporters state the batch and the channels too.
    if (std::ssize(result.output_shape) == rank + 2)
      result.output_shape.erase(result.output_shape.begin(), result.output_shape.begin() + 2);
    if (std::ssize(result.output_shape) != rank)
      context.fail("attribute 'output_shape' has {} values, expected {}", result.output_shape.size(), rank);
    for (const int64_t extent : result.output_shape)
      if (extent < 0 || extent > kMostExtent) context.fail("attribute 'output_shape' has the value {}", extent);
  }
  return result;
}

/// Extent of the output along axis i before any padding is cut off.
Dim full_extent(const TransposeWindow& attributes, size_t i, const Dim& in) {
  const Window& window = attributes.window;
  return (in - Dim(1)) * Dim(window.strides[i]) +
         Dim(attributes.output_padding[i] + (window.kernel[i] - 1) * window.dilations[i] + 1);
}

bool is_same(AutoPad auto_pad) { return auto_pad == AutoPad::same_upper || auto_pad == AutoPad::same_lower; }

Dim transposed_extent(const OpContext& context, const TransposeWindow& attributes, size_t i, const Dim& in) {
  const Window& window = attributes.window;
  if (!attributes.output_shape.empty()) return attributes.output_shape[i];
  Dim extent = is_same(window.auto_pad) ? in * Dim(window.strides[i]) : full_extent(attributes, i, in);
  if (window.auto_pad == AutoPad::notset)
    extent = extent - Dim(window.pads[i]) - Dim(window.pads[window.kernel.size() + i]);
  if (in.is_known() && (!extent.is_known() || extent.value() > kMostExtent))
    context.fail("the output's extent overflows");
  if (extent.is_known() && extent.value() < 0)
    context.fail("paddings leave {} elements of a spatial axis", extent.value());
  return extent;
}

/// The window that would slide over the output of ConvTranspose and give its input.
std::vector<WindowAxis> transposed_axes(const OpContext& context, const TransposeWindow& attributes,
                                        std::span<const int64_t> in, std::span<const int64_t> out) {
  const Window& window = attributes.window;
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < in.size(); ++i) {
    WindowAxis axis{.in = out[i],
                    .out = in[i],
                    .kernel = window.kernel[i],
                    .stride = window.strides[i],
                    .dilation = window.dilations[i]};
    if (!attributes.output_shape.empty() || is_same(window.auto_pad)) {
      const Dim full = full_extent(attributes, i, in[i]);
      if (!full.is_known()) context.fail("the output's extent overflows");
      const int64_t total = std::max<int64_t>(0, full.value() - out[i]);
      axis.pad_begin = window.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
    } else if (window.auto_pad == AutoPad::notset) {
      axis.pad_begin = window.pads[i];
    }
    axes.push_back(axis);
  }
  return axes;
}

void check_channels(const InferContext& context, const Shape& src, const Shape& weights, int64_t groups) {
  if (src.size() != weights.size()) context.fail("input has rank {}, weights have rank {}", src.size(), weights.size());
  if (src[1].is_known() && weights[0].is_known() &&
      (src[1].value() != weights[0].value() || src[1].value() % groups != 0))
    context.fail("input has {} channels, weights have {}, in {} groups", src[1].value(), weights[0].value(), groups);
}

void infer_conv_transpose(InferContext& context) {
  const auto &src = context.shape(0), &weights = context.shape(1);
  const DType dtype = context.dtype(0);
  const int64_t groups = read_groups(context);
  for (int i = 1; i < context.input_count(); ++i)
    if (context.has_input(i) && context.dtype(i) != dtype && context.dtype(i) != DType::undefined)
      context.fail("inputs 0 and {} have different dtypes", i);
  if (!src || !weights) return context.set_output(0, dtype, std::nullopt);
  if (src->size() < 2) context.fail("input has rank {}, expected (N, C, spatial…)", src->size());
  check_channels(context, *src, *weights, groups);
  Shape result{(*src)[0], (*weights)[1] * Dim(groups)};
  if (context.has_input(2) && context.shape(2)) {
    const Shape& bias = *context.shape(2);
    if (bias.size() != 1) context.fail("bias has rank {}, expected 1", bias.size());
    if (bias[0].is_known() && result[1].is_known() && bias[0].value() != result[1].value())
      context.fail("bias has {} elements for {} output channels", bias[0].value(), result[1].value());
  }
  auto kernel = concrete(Shape(weights->begin() + 2, weights->end()));
  if (context.has_attr("kernel_shape")) {
    const auto& stated = context.attr_ints("kernel_shape");
    if (stated.size() + 2 != src->size() || (kernel && *kernel != stated))
      context.fail("attribute 'kernel_shape' is {}, but the weights are {}", to_text(stated), to_text(*weights));
    kernel = stated;
  }
  if (!kernel) {
    result.resize(src->size());
    return context.set_output(0, dtype, std::move(result));
  }
  const TransposeWindow attributes = read_transpose_window(context, *kernel);
  for (size_t i = 0; i + 2 < src->size(); ++i)
    result.push_back(transposed_extent(context, attributes, i, (*src)[i + 2]));
  context.set_output(0, dtype, std::move(result));
}

/// dst = src times weights, one plane of the output at a time: products with the weights give columns, which are added
/// into the plane. A task is some output channels of one group of one image.
template <class T> void convolve_transposed(const std::vector<WindowAxis>& axes, int64_t batch, int64_t groups,
                                            int64_t in_channels, int64_t out_channels, const T* src, const T* weights,
                                            const T* bias, T* dst) {
  const ConvGeometry sizes{.batch = batch, .groups = groups, .axes = axes};
  const int64_t in_size = sizes.out_size(), out_size = sizes.in_size(), taps = sizes.kernel_size();
  if (in_channels == 0 || in_size == 0) {
    for (int64_t plane = 0; plane < batch * groups * out_channels; ++plane)
      std::fill_n(dst + plane * out_size, out_size, bias ? bias[plane % (groups * out_channels)] : T{});
    return;
  }
  // Channels whose columns take some MB; fewer when that leaves threads without work.
  constexpr int64_t kColumnElements = 1 << 19;
  const int64_t fitting = kColumnElements / std::max<int64_t>(1, taps * in_size);
  const int64_t spread = out_channels * batch * groups / (4 * int64_t{thread_count()});
  const int64_t channels = std::clamp<int64_t>(std::min(fitting, spread), 1, out_channels);
  const int64_t blocks = (out_channels + channels - 1) / channels;
  const double work =
      static_cast<double>(channels * taps) * static_cast<double>(in_size) * static_cast<double>(in_channels + 1);
  for_each_product(batch * groups * blocks, work, [&](int64_t begin, int64_t end) {
    Tensor buffer = Tensor::allocate(dtype_of<T>(), {channels, taps, in_size});
    T* columns = buffer.mutable_data<T>();
    const auto plane = std::make_unique_for_overwrite<double[]>(static_cast<size_t>(out_size));
    for (int64_t at = begin; at < end; ++at) {
      const int64_t task = at / blocks, first = at % blocks * channels, group = task % groups;
      const int64_t count = std::min(channels, out_channels - first);
      const T* group_weights = weights + group * in_channels * out_channels * taps + first * taps;
      gemm(count * taps, in_size, in_channels, MatrixView<T>{group_weights, 1, out_channels * taps},
           MatrixView<T>{src + task * in_channels * in_size, in_size, 1}, columns, in_size);
      for (int64_t c = 0; c < count; ++c) {
        const double start = bias ? static_cast<double>(bias[group * out_channels + first + c]) : 0.0;
        std::fill_n(plane.get(), out_size, start);
        add_columns(axes, columns + c * taps * in_size, in_size, plane.get());
        T* out = dst + (task * out_channels + first + c) * out_size;
        for (int64_t i = 0; i < out_size; ++i) out[i] = static_cast<T>(plane[static_cast<size_t>(i)]);
      }
    }
  });
}

void run_conv_transpose(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), weights = widened(context.input(1));
  const Tensor bias = context.has_input(2) ? widened(context.input(2)) : Tensor();
  Tensor dst = wide_output(output);
  const int64_t groups = read_groups(context);
  auto axes = conv_transpose_axes(context, src.dims(), weights.dims(), dst.dims());
  if (axes.empty()) axes.push_back({.in = 1, .out = 1});
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    convolve_transposed<T>(axes, src.dim(0), groups, src.dim(1) / groups, weights.dim(1), src.data<T>(),
                           weights.data<T>(), bias.empty() ? nullptr : bias.data<T>(), dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double conv_transpose_flops(const CostContext& context) {
  const Dims src = context.input_dims(0);
  if (src.size() < 2 || src[1] == 0) return 0;
  return 2.0 * context.input_elements(0) * context.input_elements(1) / static_cast<double>(src[1]);
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "ConvTranspose",
     .since = 1,
     .inputs = {2, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_conv_transpose,
     .kernel = run_conv_transpose,
     .flops = conv_transpose_flops},
    {.domain = "",
     .name = "Col2Im",
     .since = 18,
     .inputs = {3, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_function,
     .infer = infer_col2im,
     .kernel = run_col2im,
     .flops = col2im_flops},
};

}  // namespace

std::vector<WindowAxis> conv_transpose_axes(const OpContext& context, const Dims& src, const Dims& weights,
                                            const Dims& dst) {
  const TransposeWindow attributes = read_transpose_window(context, Dims(weights.begin() + 2, weights.end()));
  return transposed_axes(context, attributes, std::span(src).subspan(2), std::span(dst).subspan(2));
}

std::span<const OpDef> conv_transpose_ops() { return kOps; }

}  // namespace attune
