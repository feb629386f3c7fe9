// Resize and Upsample: one axis after the other.
#include "base/parallel.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/infer_parts.h"
#include "ops/resize_taps.h"
#include "ops/wide_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace attune {
namespace {

void infer_resize(InferContext& context) {
  const auto& src = context.shape(0);
  read_resize_attributes(context);
  if (!src) return context.set_output(0, context.dtype(0), std::nullopt);
  const ResizeInputs inputs = resize_inputs(context);
  const bool has_scales = inputs.scales > 0 && context.has_input(inputs.scales);
  const Tensor* scales = has_scales ? context.constant(inputs.scales) : nullptr;
  const bool has_sizes = inputs.sizes > 0 && context.has_input(inputs.sizes);
  auto sizes = has_sizes ? int_content(context, inputs.sizes) : std::nullopt;
  const bool all_known = (scales != nullptr || !has_scales) && (sizes || !has_sizes);
  const ResizeRequest request = read_resize(context, std::ssize(*src), scales, std::move(sizes), nullptr);
  if (all_known && !request.scales && !request.sizes && !request.axes.empty())
    context.fail("neither scales nor sizes are given");
  if (has_sizes && scales != nullptr && scales->count() > 0)
    context.fail("scales and sizes are both given; leave one out");
  context.set_output(0, context.dtype(0), resized_shape(context, request, *src));
}

/// The tensor as (outer, length of the axis, inner).
struct AxisView {
  int64_t outer = 1, inner = 1;
};
AxisView view_axis(const Dims& dims, size_t axis) {
  AxisView view;
  for (size_t i = 0; i < axis; ++i) view.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) view.inner *= dims[i];
  return view;
}

/// Copies the one element that each output of the axis reads; U is an integer of the element's size.
template <class U>
void gather_axis(AxisView view, const ResizeAxis& axis, const ResizeTaps& taps, U outside, const U* src, U* dst) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, axis.out * view.inner));
  parallel_for(view.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t outer = begin; outer < end; ++outer) {
      const U* from = src + outer * axis.in * view.inner;
      U* to = dst + outer * axis.out * view.inner;
      for (int64_t o = 0; o < axis.out; ++o, to += view.inner) {
        const auto tap = static_cast<size_t>(taps.first[static_cast<size_t>(o)]);
        if (tap == static_cast<size_t>(taps.first[static_cast<size_t>(o) + 1]))
          std::fill_n(to, view.inner, outside);
        else if (view.inner == 1)
          *to = from[taps.indices[tap]];
        else
          std::memcpy(to, from + taps.indices[tap] * view.inner, static_cast<size_t>(view.inner) * sizeof(U));
      }
    }
  });
}

template <class T>
void filter_axis(AxisView view, const ResizeAxis& axis, const ResizeTaps& taps, double outside, const T* src, T* dst) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, 2 * view.inner));
  parallel_for(view.outer * axis.out, grain, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(view.inner));
    for (int64_t at = begin; at < end; ++at) {
      const T* from = src + at / axis.out * axis.in * view.inner;
      T* to = dst + at * view.inner;
      const auto o = static_cast<size_t>(at % axis.out);
      const auto first = static_cast<size_t>(taps.first[o]), last = static_cast<size_t>(taps.first[o + 1]);
      if (view.inner == 1) {
        double sum = first == last ? outside : 0.0;
        for (size_t tap = first; tap < last; ++tap)
          sum += taps.weights[tap] * static_cast<double>(from[taps.indices[tap]]);
        *to = static_cast<T>(sum);
        continue;
      }
      std::fill(sums.begin(), sums.end(), first == last ? outside : 0.0);
      for (size_t tap = first; tap < last; ++tap) {
        const T* in = from + taps.indices[tap] * view.inner;
        const double weight = taps.weights[tap];
        for (int64_t i = 0; i < view.inner; ++i) sums[static_cast<size_t>(i)] += weight * static_cast<double>(in[i]);
      }
      for (int64_t i = 0; i < view.inner; ++i) to[i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    }
  });
}

/// Whether the axis passes through unchanged.
bool is_identity(const ResizeAttributes& attributes, const ResizeAxis& axis) {
  if (!axis.resized) return true;
  const bool crops = attributes.coordinates == "tf_crop_and_resize";
  return axis.in == axis.out && axis.scale == 1 && (!crops || (axis.roi_start == 0 && axis.roi_end == 1)) &&
         attributes.coordinates != "tf_half_pixel_for_nn";
}

/// Applies step(view, axis, taps, src, dst) to every axis that changes; the last result is returned.
template <class Step> Tensor resize_by_axis(const OpContext& context, const ResizeAttributes& attributes,
                                            const std::vector<ResizeAxis>& axes, Tensor current, Step&& step) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (is_identity(attributes, axes[i])) continue;
    Dims dims = current.dims();
    dims[i] = axes[i].out;
    const AxisView view = view_axis(current.dims(), i);
    Tensor next = Tensor::allocate(current.dtype(), std::move(dims));
    step(view, axes[i], resize_taps(context, attributes, axes[i]), current, next);
    current = std::move(next);
  }
  return current;
}

template <class T> T rounded(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    const double nearest = std::nearbyint(value);
    if (!(nearest > static_cast<double>(std::numeric_limits<T>::lowest()))) return std::numeric_limits<T>::lowest();
    if (nearest >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(nearest);
  } else {
    return static_cast<T>(static_cast<compute_t<T>>(value));
  }
}

/// The bits of the extrapolation value in the tensor's dtype, as an integer of the same size.
template <class U> U extrapolation_bits(const OpContext& context, DType dtype, double value) {
  U bits{};
  dispatch<PlainTypes>(dtype, context, [&]<class T>() {
    if constexpr (sizeof(T) == sizeof(U)) {
      const T element = rounded<T>(value);
      std::memcpy(&bits, &element, sizeof bits);
    }
  });
  return bits;
}

void run_resize(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor& src = context.input(0);
  const ResizeInputs inputs = resize_inputs(context);
  const auto tensor = [&](int i) { return i > 0 && context.has_input(i) ? &context.input(i) : nullptr; };
  std::optional<std::vector<Dim>> sizes;
  if (tensor(inputs.sizes) != nullptr) sizes = to_shape(context.ints(inputs.sizes));
  const ResizeRequest request =
      read_resize(context, src.rank(), tensor(inputs.scales), std::move(sizes), tensor(inputs.roi));
  const std::vector<ResizeAxis> axes = resize_axes(context, request, src.dims());
  const ResizeAttributes attributes = read_resize_attributes(context);

  if (attributes.mode == ResizeMode::nearest) {
    dispatch_by_size(src.dtype(), context, [&]<class U>() {
      const U outside = extrapolation_bits<U>(context, src.dtype(), attributes.extrapolation_value);
      context.set_output(
          0, resize_by_axis(
                 context, attributes, axes, src,
                 [&](AxisView view, const ResizeAxis& axis, const ResizeTaps& taps, const Tensor& from, Tensor& to) {
                   gather_axis(view, axis, taps, outside, reinterpret_cast<const U*>(from.bytes()),
                               reinterpret_cast<U*>(to.mutable_bytes()));
                 }));
    });
    return;
  }
  const Tensor wide = is_float(src.dtype()) ? widened(src) : convert(src, DType::f64);
  dispatch<TypeList<float, double>>(wide.dtype(), context, [&]<class T>() {
    const Tensor result = resize_by_axis(
        context, attributes, axes, wide,
        [&](AxisView view, const ResizeAxis& axis, const ResizeTaps& taps, const Tensor& from, Tensor& to) {
          filter_axis<T>(view, axis, taps, attributes.extrapolation_value, from.data<T>(), to.mutable_data<T>());
        });
    if (result.dtype() == src.dtype()) return context.set_output(0, result);
    dispatch<PlainTypes>(src.dtype(), context, [&]<class D>() {
      for (int64_t i = 0; i < result.count(); ++i)
        output.mutable_data<D>()[i] = rounded<D>(static_cast<double>(result.data<T>()[i]));
    });
  });
}

double resize_flops(const CostContext& context) {
  const std::string mode = context.attr_string("mode", "nearest");
  if (mode == "nearest") return 0;
  return context.output_elements(0) * (mode == "cubic" ? 16 : 8);  // two axes of 4 or 2 taps, in the common case
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "Resize",
     .since = 10,
     .inputs = {1, 4},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_resize,
     .kernel = run_resize,
     .flops = resize_flops},
    {.domain = "",
     .name = "Upsample",
     .since = 7,
     .inputs = {1, 2},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_resize,
     .kernel = run_resize,
     .flops = resize_flops,
     .until = 9},
};

}  // namespace

std::span<const OpDef> resize_ops() { return kOps; }

}  // namespace attune
