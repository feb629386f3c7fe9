#include "ops/quantized_conv.h"

#include "base/parallel.h"
#include "ops/conv_shape.h"
#include "ops/convert.h"
#include "ops/im2col.h"
#include "ops/integer_math.h"
#include "ops/integer_product.h"

#include <algorithm>
#include <functional>

namespace attune {
namespace {

constexpr int64_t kColumnElements = 1 << 18;  // of one block of columns: half a megabyte

/// Sums of consecutive output positions of one channel.
struct ConvRow {
  int64_t image = 0;
  int64_t channel = 0;  // of all groups
  int64_t first = 0;
  std::span<const int32_t> sums;
};

/// Operands as i16 with the zero points taken off, so that padding is 0.
struct IntegerConv {
  ConvGeometry geometry;
  Tensor src, weights;
};

/// The weights have one zero point or one for each output channel.
Tensor centered_weights(const OpContext& context, const Tensor& weights, const Tensor* zero) {
  const int64_t channels = weights.dim(0);
  const Tensor flat = weights.reshaped({channels, channels == 0 ? 0 : weights.count() / channels});
  if (zero != nullptr && zero->count() != 1 && zero->dims() != Dims{channels})
    context.fail("the zero point of the weights has shape {}, expected a scalar or one for each of {} channels",
                 to_text(zero->dims()), channels);
  return centered_matrices(context, flat, zero, Lines::rows);
}

IntegerConv integer_conv(const OpContext& context, const Tensor& src, const Tensor* src_zero, const Tensor& weights,
                         const Tensor* weights_zero) {
  if (src_zero != nullptr && src_zero->count() != 1) context.fail("the zero point of the input must be a scalar");
  IntegerConv conv{conv_geometry(context, src.dims(), weights.dims()), {}, {}};
  if (conv.geometry.axes.empty()) conv.geometry.axes.push_back({.in = 1, .out = 1});  // im2col wants an axis
  conv.src = centered_matrices(context, src, src_zero, Lines::rows);
  conv.weights = centered_weights(context, weights, weights_zero);
  return conv;
}

void convolve(const IntegerConv& conv, const std::function<void(const ConvRow&)>& store) {
  const ConvGeometry& g = conv.geometry;
  const int64_t in_size = g.in_size(), out_size = g.out_size(), kernel_size = g.kernel_size();
  const int64_t depth = g.in_channels * kernel_size;
  if (g.batch == 0 || g.out_channels == 0 || out_size == 0) return;
  const int64_t block =
      std::min(out_size, std::clamp<int64_t>(kColumnElements / std::max<int64_t>(1, depth), 64, 1024));
  const int64_t blocks = (out_size + block - 1) / block;
  parallel_for(g.batch * g.groups * blocks, 1, [&](int64_t begin, int64_t end) {
    Tensor columns = Tensor::allocate(DType::i16, {depth, block});
    Tensor sums = Tensor::allocate(DType::i32, {g.out_channels, block});
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % blocks * block, count = std::min(block, out_size - first);
      const int64_t group = task / blocks % g.groups, image = task / blocks / g.groups;
      const int16_t* src = conv.src.data<int16_t>() + (image * g.groups + group) * g.in_channels * in_size;
      const int16_t* weights = conv.weights.data<int16_t>() + group * g.out_channels * depth;
      im2col<int16_t>(g, src, first, count, 0, columns.mutable_data<int16_t>(), count);
      integer_product(g.out_channels, count, depth, weights, columns.data<int16_t>(), sums.mutable_data<int32_t>());
      for (int64_t c = 0; c < g.out_channels; ++c)
        store(
            {image, group * g.out_channels + c, first, {sums.data<int32_t>() + c * count, static_cast<size_t>(count)}});
    }
  });
}

double conv_flops_of(const CostContext& context, int weights_input) {
  const Dims weights = context.input_dims(weights_input);
  if (weights.empty()) return 0;
  return 2.0 * context.output_elements(0) * static_cast<double>(element_count(std::span(weights).subspan(1)));
}

}  // namespace

void infer_conv_integer(InferContext& context) {
  for (int i = 0; i < 4; ++i) require_byte(context, i);
  require_single(context, 2, "x_zero_point");
  context.set_output(0, DType::i32, conv_output_shape(context, context.shape(0), context.shape(1)));
}

void conv_integer_kernel(KernelContext& context) {
  Tensor& dst = context.output(0);
  const IntegerConv conv = integer_conv(context, context.input(0), context.has_input(2) ? &context.input(2) : nullptr,
                                        context.input(1), context.has_input(3) ? &context.input(3) : nullptr);
  const int64_t channels = conv.geometry.groups * conv.geometry.out_channels, out_size = conv.geometry.out_size();
  int32_t* out = dst.mutable_data<int32_t>();
  convolve(conv, [&](const ConvRow& row) {
    std::copy(row.sums.begin(), row.sums.end(), out + (row.image * channels + row.channel) * out_size + row.first);
  });
}

double conv_integer_flops(const CostContext& context) { return conv_flops_of(context, 1); }
double qlinear_conv_flops(const CostContext& context) { return conv_flops_of(context, 3); }

// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, bias.
void infer_qlinear_conv(InferContext& context) {
  for (const int i : {0, 2, 3, 5, 7}) require_byte(context, i);
  require_single(context, 1, "x_scale");
  require_single(context, 2, "x_zero_point");
  require_single(context, 6, "y_scale");
  require_single(context, 7, "y_zero_point");
  if (context.has_input(8) && context.dtype(8) != DType::i32 && context.dtype(8) != DType::undefined)
    context.fail("the bias has dtype {}, expected i32", dtype_name(context.dtype(8)));
  context.set_output(0, context.dtype(7), conv_output_shape(context, context.shape(0), context.shape(3)));
}

void qlinear_conv_kernel(KernelContext& context) {
  const Tensor& weights = context.input(3);
  Tensor& dst = context.output(0);
  const IntegerConv conv = integer_conv(context, context.input(0), &context.input(2), weights, &context.input(5));
  const int64_t channels = weights.dim(0), out_size = conv.geometry.out_size();
  const Tensor w_scale = convert(context.input(4), DType::f32);
  if (w_scale.count() != 1 && w_scale.dims() != Dims{channels})
    context.fail("the scale of the weights has shape {}, expected a scalar or one for each of {} channels",
                 to_text(w_scale.dims()), channels);
  const Tensor* bias = context.has_input(8) ? &context.input(8) : nullptr;
  if (bias != nullptr && bias->dims() != Dims{channels})
    context.fail("the bias has shape {}, expected one value for each of {} channels", to_text(bias->dims()), channels);

  const auto x_scale = static_cast<float>(element_as_double(context.input(1), 0));
  const auto y_scale = static_cast<float>(element_as_double(context.input(6), 0));
  const auto y_zero = static_cast<float>(element_as_double(context.input(7), 0));
  const Requantize range = requantize_to(context.input(7).dtype(), y_zero);
  uint8_t* out = dst.mutable_data<uint8_t>();
  convolve(conv, [&](const ConvRow& row) {
    const int32_t added = bias == nullptr ? 0 : bias->data<int32_t>()[row.channel];
    Requantize to = range;
    to.scale = x_scale * w_scale.data<float>()[w_scale.count() == 1 ? 0 : row.channel] / y_scale;
    uint8_t* line = out + (row.image * channels + row.channel) * out_size + row.first;
    for (size_t j = 0; j < row.sums.size(); ++j)
      line[j] = quantized_byte(static_cast<float>(wrapping_add(row.sums[j], added)) * to.scale, to);
  });
}

}  // namespace attune
