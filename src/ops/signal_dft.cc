// DFT along one axis and the short-time transform. Signals end in an axis of 1 (real) or 2 (complex) parts.
#include "base/parallel.h"
#include "ops/axis_split.h"
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/fft.h"
#include "ops/signal_parts.h"

#include <cmath>

namespace attune {
namespace {

enum class Transform { full, real_to_half, half_to_real };

struct DftMode {
  Transform transform = Transform::full;
  Fft::Direction direction = Fft::Direction::forward;
};

DftMode dft_mode(const OpContext& context) {
  const bool inverse = context.attr_int("inverse", 0) != 0;
  const bool onesided = context.attr_int("onesided", 0) != 0;
  DftMode mode;
  if (inverse) mode.direction = Fft::Direction::inverse;
  if (onesided) mode.transform = inverse ? Transform::half_to_real : Transform::real_to_half;
  return mode;
}

void check_parts(const OpContext& context, const Dim& parts, Transform transform) {
  if (!parts.is_known()) return;
  if (parts.value() != 1 && parts.value() != 2)
    context.fail("the last axis has {} elements, expected 1 (real) or 2 (complex)", parts.value());
  if (transform == Transform::real_to_half && parts.value() == 2)
    context.fail("a one-sided transform needs a real signal; use onesided=0 for a complex one");
}

int64_t signal_axis(const OpContext& context, int64_t axis, int64_t rank) {
  const int64_t normalized = context.axis_in_range(axis, rank);
  if (normalized == rank - 1) context.fail("axis {} holds the complex parts and cannot be transformed", axis);
  return normalized;
}

/// The axis as written, when known: an attribute before opset 20, an input since.
std::optional<int64_t> inferred_axis(const InferContext& context) {
  if (context.version() < 20) return context.attr_int("axis", 1);
  if (!context.has_input(2)) return -2;
  const Dim axis = inferred_scalar(context, 2);
  if (!axis.is_known()) return std::nullopt;
  return axis.value();
}

Dim output_length(const Dim& length, Transform transform) {
  return transform == Transform::real_to_half ? length.floor_div(2) + 1 : length;
}

template <class T> Complex load_complex(const T* at, int64_t parts) {
  using C = compute_t<T>;
  return {static_cast<double>(static_cast<C>(at[0])), parts == 2 ? static_cast<double>(static_cast<C>(at[1])) : 0.0};
}

template <class T> T store_real(double value) { return static_cast<T>(static_cast<compute_t<T>>(value)); }

/// Completes a half spectrum: the rest mirrors it, and what has to be real is.
void mirror_half(std::vector<Complex>& spectrum) {
  const size_t n = spectrum.size();
  spectrum[0].im = 0;
  if (n % 2 == 0) spectrum[n / 2].im = 0;
  for (size_t k = n / 2 + 1; k < n; ++k) spectrum[k] = conjugate(spectrum[n - k]);
}

template <class T>
void transform_axis(const Tensor& src, Tensor& dst, int64_t axis, const DftMode& mode, int64_t length) {
  const int64_t rank = src.rank();
  const AxisSplit from = split_axes(src.dims(), axis, axis + 1);
  const AxisSplit to = split_axes(dst.dims(), axis, axis + 1);
  const int64_t src_parts = src.dim(rank - 1), dst_parts = dst.dim(rank - 1);
  const int64_t lines_inner = from.inner / src_parts;  // lines side by side
  const int64_t bins = mode.transform == Transform::half_to_real ? length / 2 + 1 : length;
  const int64_t read = std::min(from.length, bins);
  const Fft fft(length, mode.direction);
  const T* all_src = src.data<T>();
  T* all_dst = dst.mutable_data<T>();
  parallel_for(from.outer * lines_inner, std::max<int64_t>(1, 1024 / length), [&](int64_t begin, int64_t end) {
    std::vector<Complex> line(static_cast<size_t>(length)), scratch;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / lines_inner, inner = i % lines_inner;
      const T* in = all_src + outer * from.length * from.inner + inner * src_parts;
      T* out = all_dst + outer * to.length * to.inner + inner * dst_parts;
      std::fill(line.begin(), line.end(), Complex{});
      for (int64_t k = 0; k < read; ++k) line[static_cast<size_t>(k)] = load_complex(in + k * from.inner, src_parts);
      if (mode.transform == Transform::half_to_real) mirror_half(line);
      fft.run(line.data(), scratch);
      for (int64_t k = 0; k < to.length; ++k) {
        out[k * to.inner] = store_real<T>(line[static_cast<size_t>(k)].re);
        if (dst_parts == 2) out[k * to.inner + 1] = store_real<T>(line[static_cast<size_t>(k)].im);
      }
    }
  });
}

bool is_onesided_stft(const OpContext& context) { return context.attr_int("onesided", 1) != 0; }

double fft_flops(double points, double length) { return 5 * points * std::log2(std::max(2.0, length)); }

}  // namespace

void infer_dft(InferContext& context) {
  const auto& shape = context.shape(0);
  if (!shape) {
    context.set_output(0, context.dtype(0), std::nullopt);
    return;
  }
  const auto rank = static_cast<int64_t>(shape->size());
  if (rank < 2) context.fail("the input is {}, expected a signal axis and an axis of parts", to_text(*shape));
  const DftMode mode = dft_mode(context);
  check_parts(context, shape->back(), mode.transform);
  Shape out(shape->size());
  if (const auto written = inferred_axis(context)) {
    const auto axis = static_cast<size_t>(signal_axis(context, *written, rank));
    out = *shape;
    Dim length = (*shape)[axis];
    if (context.has_input(1))
      length = inferred_scalar(context, 1);
    else if (mode.transform == Transform::half_to_real)
      length = (length - 1) * 2;
    if (length.is_known() && length.value() < 1)
      context.fail("the length of the transform is {}, expected at least 1", length.value());
    out[axis] = output_length(length, mode.transform);
  }
  out.back() = mode.transform == Transform::half_to_real ? 1 : 2;
  context.set_output(0, context.dtype(0), out);
}

void run_dft(KernelContext& context) {
  const Tensor& src = context.input(0);
  const DftMode mode = dft_mode(context);
  int64_t written = context.version() < 20 ? context.attr_int("axis", 1) : -2;
  if (context.version() >= 20 && context.has_input(2)) written = scalar_int(context, 2);
  const int64_t axis = signal_axis(context, written, src.rank());
  int64_t length = src.dim(axis);
  if (context.has_input(1))
    length = scalar_int(context, 1);
  else if (mode.transform == Transform::half_to_real)
    length = (length - 1) * 2;
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  if (src.count() == 0) context.fail("the signal {} is empty", to_text(src.dims()));
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() { transform_axis<T>(src, dst, axis, mode, length); });
}

double dft_flops(const CostContext& context) {
  double longest = 2;
  for (const int64_t dim : context.output_dims(0)) longest = std::max(longest, static_cast<double>(dim));
  return fft_flops(context.output_elements(0) / 2, longest);
}

void infer_stft(InferContext& context) {
  const auto& shape = context.shape(0);
  if (shape && shape->size() != 3) context.fail("the signal is {}, expected batch, length and parts", to_text(*shape));
  Shape out{Dim::unknown(), Dim::unknown(), Dim::unknown(), 2};
  const bool onesided = is_onesided_stft(context);
  Dim length = shape ? (*shape)[1] : Dim::unknown();
  if (shape) {
    check_parts(context, shape->back(), onesided ? Transform::real_to_half : Transform::full);
    out[0] = (*shape)[0];
  }
  Dim frame = length;
  if (context.has_input(2)) {
    const auto& window = context.shape(2);
    if (window && window->size() != 1) context.fail("the window is {}, expected a vector", to_text(*window));
    frame = window ? window->front() : Dim::unknown();
  }
  if (context.has_input(3)) {
    const Dim given = inferred_scalar(context, 3);
    if (context.has_input(2) && frame.is_known() && given.is_known() && frame.value() != given.value())
      context.fail("the window has {} elements but frame_length is {}", frame.value(), given.value());
    frame = given;
  }
  const Dim step = inferred_scalar(context, 1);
  if (step.is_known() && step.value() < 1) context.fail("frame_step is {}, expected at least 1", step.value());
  if (frame.is_known() && frame.value() < 1) context.fail("frame_length is {}, expected at least 1", frame.value());
  if (frame.is_known() && length.is_known() && frame.value() > length.value())
    context.fail("frames of {} are longer than the signal of {}", frame.value(), length.value());
  out[1] = (length - frame).floor_div(step) + 1;
  out[2] = onesided ? frame.floor_div(2) + 1 : frame;
  context.set_output(0, context.dtype(0), out);
}

void run_stft(KernelContext& context) {
  const Tensor& src = context.input(0);
  Tensor& dst = context.output(0);
  if (dst.count() == 0) return;
  const int64_t parts = src.dim(2), frames = dst.dim(1), bins = dst.dim(2);
  const int64_t step = scalar_int(context, 1);
  Tensor window;
  int64_t length = src.dim(1);
  if (context.has_input(2)) {
    window = convert(context.input(2), DType::f64);
    length = window.count();
  }
  if (context.has_input(3)) length = scalar_int(context, 3);
  const Fft fft(length, Fft::Direction::forward);
  dispatch<FloatTypes>(src.dtype(), context, [&]<class T>() {
    const T* all_src = src.data<T>();
    T* all_dst = dst.mutable_data<T>();
    parallel_for(src.dim(0) * frames, std::max<int64_t>(1, 1024 / length), [&](int64_t begin, int64_t end) {
      std::vector<Complex> line(static_cast<size_t>(length)), scratch;
      for (int64_t i = begin; i < end; ++i) {
        const T* in = all_src + (i / frames * src.dim(1) + i % frames * step) * parts;
        T* out = all_dst + i * bins * 2;
        for (int64_t k = 0; k < length; ++k) {
          const Complex value = load_complex(in + k * parts, parts);
          const double weight = window.empty() ? 1.0 : window.data<double>()[k];
          line[static_cast<size_t>(k)] = {value.re * weight, value.im * weight};
        }
        fft.run(line.data(), scratch);
        for (int64_t k = 0; k < bins; ++k) {
          out[2 * k] = store_real<T>(line[static_cast<size_t>(k)].re);
          out[2 * k + 1] = store_real<T>(line[static_cast<size_t>(k)].im);
        }
      }
    });
  });
}

double stft_flops(const CostContext& context) {
  const Dims dims = context.output_dims(0);
  return dims.size() == 4 ? fft_flops(context.output_elements(0), static_cast<double>(dims[2])) : 0;
}

}  // namespace attune
