#include "ops/conv_special_deform.h"

#include "ops/conv_shape.h"
#include "ops/dispatch.h"
#include "ops/matrix_product.h"
#include "ops/strided_walk.h"
#include "ops/wide_tensor.h"

#include <cmath>

namespace attune {
namespace {

constexpr int64_t kColumnElements = 1 << 18;

int64_t read_offset_groups(const OpContext& context) {
  const int64_t groups = context.attr_int("offset_group", 1);
  if (groups < 1) context.fail("attribute 'offset_group' is {}, expected at least 1", groups);
  return groups;
}

/// Offsets and mask have the batch and the spatial dims of the output and `channels` between them.
void check_companion(const InferContext& context, int input, const Shape& output, std::optional<int64_t> channels) {
  if (!context.has_input(input) || !context.shape(input)) return;
  const Shape& shape = *context.shape(input);
  if (shape.size() != output.size())
    context.fail("input {} has rank {}, expected {}", input, shape.size(), output.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim expected = i == 1 ? (channels ? Dim(*channels) : Dim::unknown()) : output[i];
    if (shape[i].is_known() && expected.is_known() && shape[i].value() != expected.value())
      context.fail("dim {} of input {} is {}, expected {}", i, input, shape[i].value(), expected.value());
  }
}

/// Where linear interpolation reads: up to 2^rank corners with their weights.
struct Corners {
  explicit Corners(size_t rank) : offsets(size_t{1} << rank), factors(size_t{1} << rank) {}
  std::vector<int64_t> offsets;
  std::vector<double> factors;
  size_t count = 0;

  /// Corners outside the image count as zero and are left out.
  void locate(const std::vector<WindowAxis>& axes, const Dims& strides, std::span<const double> position) {
    count = 1;
    offsets[0] = 0;
    factors[0] = 1;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const auto extent = static_cast<double>(axes[axis].in);
      if (!(position[axis] > -1.0 && position[axis] < extent)) {  // also false for NaN
        count = 0;
        return;
      }
      const double floor = std::floor(position[axis]), fraction = position[axis] - floor;
      const auto low = static_cast<int64_t>(floor);
      const bool has_low = low >= 0, has_high = low + 1 < axes[axis].in && fraction > 0;
      const size_t before = count;
      size_t kept = 0;
      if (has_high) {
        for (size_t i = 0; i < before; ++i) {
          offsets[before + i] = offsets[i] + (low + 1) * strides[axis];
          factors[before + i] = factors[i] * fraction;
        }
      }
      if (has_low) {
        for (size_t i = 0; i < before; ++i) {
          offsets[i] += low * strides[axis];
          factors[i] *= 1 - fraction;
        }
        kept = before;
      }
      if (has_high) {
        for (size_t i = 0; i < before; ++i) {
          offsets[kept + i] = offsets[before + i];
          factors[kept + i] = factors[before + i];
        }
        kept += before;
      }
      count = kept;
    }
  }
};

template <class T> struct Deformation {
  ConvGeometry geometry;
  int64_t offset_groups;
  const T* src;
  const T* offsets;
  const T* mask;  // nullptr: ones

  int64_t in_size, out_size, kernel_size;
  Dims in_strides, out_dims, kernel_dims;

  /// im2col with the taps moved: columns [first, first + count) of one group of one image.
  void columns(int64_t image, int64_t group, int64_t first, int64_t count, T* result) const {
    const size_t rank = geometry.axes.size();
    const int64_t channels = geometry.in_channels * geometry.groups, per_offset_group = channels / offset_groups;
    const int64_t first_channel = group * geometry.in_channels, last_channel = first_channel + geometry.in_channels;
    Corners corners(rank);
    std::vector<double> position(rank);
    StridedWalk<0> taps(kernel_dims, {}), outs(out_dims, {});
    for (int64_t c = first_channel; c < last_channel;) {
      // All channels of one offset group share their positions.
      const int64_t offset_group = c / per_offset_group;
      const int64_t end = std::min(last_channel, (offset_group + 1) * per_offset_group);
      for (int64_t tap = 0; tap < kernel_size; ++tap, taps.next()) {
        const int64_t plane = (image * offset_groups + offset_group) * kernel_size + tap;
        outs.seek(first);
        for (int64_t j = 0; j < count; ++j, outs.next()) {
          for (size_t axis = 0; axis < rank; ++axis)
            position[axis] =
                static_cast<double>(geometry.axes[axis].start(outs.index()[axis]) +
                                    taps.index()[axis] * geometry.axes[axis].dilation) +
                static_cast<double>(
                    offsets[(plane * static_cast<int64_t>(rank) + static_cast<int64_t>(axis)) * out_size + first + j]);
          corners.locate(geometry.axes, in_strides, position);
          const double factor = mask ? static_cast<double>(mask[plane * out_size + first + j]) : 1.0;
          for (int64_t channel = c; channel < end; ++channel) {
            const T* from = src + (image * channels + channel) * in_size;
            double value = 0;
            for (size_t i = 0; i < corners.count; ++i)
              value += corners.factors[i] * static_cast<double>(from[corners.offsets[i]]);
            result[((channel - first_channel) * kernel_size + tap) * count + j] = static_cast<T>(value * factor);
          }
        }
      }
      c = end;
    }
  }
};

template <class T> void convolve_deformed(const Deformation<T>& deformation, const T* weights, const T* bias, T* dst) {
  const ConvGeometry& g = deformation.geometry;
  const int64_t depth = g.in_channels * deformation.kernel_size, out_size = deformation.out_size;
  const int64_t width = std::clamp<int64_t>(kColumnElements / std::max<int64_t>(1, depth), 16, out_size + 16);
  const int64_t blocks = (out_size + width - 1) / width;
  const double work = static_cast<double>(g.out_channels + 8) * static_cast<double>(depth * width);
  for_each_product(g.batch * g.groups * blocks, work, [&](int64_t begin, int64_t end) {
    Tensor buffer = Tensor::allocate(dtype_of<T>(), {depth, std::min(width, out_size)});
    T* columns = buffer.mutable_data<T>();
    for (int64_t at = begin; at < end; ++at) {
      const int64_t task = at / blocks, group = task % g.groups, first = at % blocks * width;
      const int64_t count = std::min(width, out_size - first);
      deformation.columns(task / g.groups, group, first, count, columns);
      T* out = dst + task * g.out_channels * out_size + first;
      gemm(g.out_channels, count, depth, MatrixView<T>{weights + group * g.out_channels * depth, depth, 1},
           MatrixView<T>{columns, count, 1}, out, out_size);
      for (int64_t c = 0; bias != nullptr && c < g.out_channels; ++c)
        for (int64_t j = 0; j < count; ++j) out[c * out_size + j] += bias[group * g.out_channels + c];
    }
  });
}

}  // namespace

void infer_deform_conv(InferContext& context) {
  const DType dtype = context.dtype(0);
  for (int i = 1; i < context.input_count(); ++i)
    if (context.has_input(i) && context.dtype(i) != dtype && context.dtype(i) != DType::undefined)
      context.fail("inputs 0 and {} have different dtypes", i);
  const auto &src = context.shape(0), &weights = context.shape(1);
  const std::optional<Shape> result = conv_output_shape(context, src, weights);
  const int64_t offset_groups = read_offset_groups(context);
  if (result && src && weights) {
    if (src->size() > 8) context.unsupported("{} spatial axes", src->size() - 2);
    if ((*src)[1].is_known() && (*src)[1].value() % offset_groups != 0)
      context.fail("{} channels do not divide into {} offset groups", (*src)[1].value(), offset_groups);
    const auto kernel = concrete(Shape(weights->begin() + 2, weights->end()));
    const auto taps = kernel ? checked_count(*kernel) : std::nullopt;
    const Dim planes = taps ? Dim(*taps) * Dim(offset_groups) : Dim::unknown();
    const Dim offsets = planes * Dim(std::ssize(*src) - 2);
    check_companion(context, 2, *result, offsets.is_known() ? std::optional(offsets.value()) : std::nullopt);
    check_companion(context, 4, *result, planes.is_known() ? std::optional(planes.value()) : std::nullopt);
    if (context.has_input(3) && context.shape(3)) {
      const Shape& bias = *context.shape(3);
      if (bias.size() != 1 ||
          (bias[0].is_known() && (*weights)[0].is_known() && bias[0].value() != (*weights)[0].value()))
        context.fail("bias is {} for weights {}", to_text(bias), to_text(*weights));
    }
  }
  context.set_output(0, dtype, result);
}

void run_deform_conv(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), weights = widened(context.input(1));
  const Tensor offsets = widened(context.input(2));
  const Tensor bias = context.has_input(3) ? widened(context.input(3)) : Tensor();
  const Tensor mask = context.has_input(4) ? widened(context.input(4)) : Tensor();
  Tensor dst = wide_output(output);
  const ConvGeometry geometry = conv_geometry(context, src.dims(), weights.dims());
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    Deformation<T> deformation{.geometry = geometry,
                               .offset_groups = read_offset_groups(context),
                               .src = src.data<T>(),
                               .offsets = offsets.data<T>(),
                               .mask = mask.empty() ? nullptr : mask.data<T>(),
                               .in_size = geometry.in_size(),
                               .out_size = geometry.out_size(),
                               .kernel_size = geometry.kernel_size(),
                               .in_strides = row_major_strides(std::span(src.dims()).subspan(2)),
                               .out_dims = Dims(dst.dims().begin() + 2, dst.dims().end()),
                               .kernel_dims = Dims(weights.dims().begin() + 2, weights.dims().end())};
    convolve_deformed<T>(deformation, weights.data<T>(), bias.empty() ? nullptr : bias.data<T>(),
                         dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double deform_conv_flops(const CostContext& context) {
  const Dims weights = context.input_dims(1);
  if (weights.empty() || weights[0] == 0) return 0;
  return 2.0 * context.output_elements(0) * context.input_elements(1) / static_cast<double>(weights[0]);
}

}  // namespace attune
