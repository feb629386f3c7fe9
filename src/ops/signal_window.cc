// Hann, Hamming and Blackman windows, and the mel filter bank.
#include "ops/convert.h"
#include "ops/dispatch.h"
#include "ops/signal_parts.h"

#include <cmath>
#include <numbers>

namespace attune {
namespace {

DType output_dtype(const OpContext& context) {
  return dtype_from_onnx(context.attr_int("output_datatype", 1), context);
}

/// A sum of cosines: c0 - c1 cos(x) + c2 cos(2x).
struct CosineWindow {
  double c0, c1, c2;
};
constexpr CosineWindow kHann{0.5, 0.5, 0.0};
constexpr CosineWindow kHamming{25.0 / 46.0, 21.0 / 46.0, 0.0};
constexpr CosineWindow kBlackman{0.42, 0.5, 0.08};

void run_window(KernelContext& context, const CosineWindow& window) {
  const bool periodic = context.attr_int("periodic", 1) != 0;
  const DType dtype = context.output(0).dtype();
  const int64_t size = context.output(0).count();
  Tensor values = Tensor::allocate(DType::f64, {size});
  double* out = values.mutable_data<double>();
  // A symmetric window of one point has no period; its only point counts fully.
  const auto period = static_cast<double>(periodic ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    out[i] = period == 0 ? 1.0 : window.c0 - window.c1 * std::cos(angle) + window.c2 * std::cos(2 * angle);
  }
  context.set_output(0, convert(values, dtype));
}

double hertz_to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double mel_to_hertz(double mel) { return 700 * (std::pow(10.0, mel / 2595) - 1); }

double frequency_input(const KernelContext& context, int i) {
  const Tensor& tensor = context.input(i);
  if (tensor.count() != 1 || !is_float(tensor.dtype())) context.fail("input {} must be one floating-point number", i);
  const double value = element_as_double(tensor, 0);
  if (!std::isfinite(value) || value < 0) context.fail("input {} is {}, expected a frequency", i, value);
  return value;
}

/// The bins of the spectrum at which the triangles start, peak and end.
std::vector<int64_t> mel_edges(const KernelContext& context, int64_t mel_bins, int64_t spectrum_bins) {
  const int64_t dft_length = scalar_int(context, 1), sample_rate = scalar_int(context, 2);
  if (sample_rate < 1) context.fail("the sample rate is {}, expected at least 1", sample_rate);
  const double low = hertz_to_mel(frequency_input(context, 3));
  const double high = hertz_to_mel(frequency_input(context, 4));
  const double step = (high - low) / static_cast<double>(mel_bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < mel_bins + 2; ++i) {
    const double hertz = mel_to_hertz(low + static_cast<double>(i) * step);
    const double bin = std::floor((static_cast<double>(dft_length) + 1) * hertz / static_cast<double>(sample_rate));
    if (!(bin >= 0 && bin < static_cast<double>(spectrum_bins)))
      context.fail("a mel band reaches {:.0f} Hz, outside the spectrum of {} Hz samples", hertz, sample_rate);
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

}  // namespace

void infer_window(InferContext& context) {
  const Dim size = inferred_scalar(context, 0);
  if (size.is_known() && size.value() < 0) context.fail("the size is {}, expected at least 0", size.value());
  context.set_output(0, output_dtype(context), Shape{size});
}

void run_hann_window(KernelContext& context) { run_window(context, kHann); }
void run_hamming_window(KernelContext& context) { run_window(context, kHamming); }
void run_blackman_window(KernelContext& context) { run_window(context, kBlackman); }

void infer_mel_weight_matrix(InferContext& context) {
  const Dim mel_bins = inferred_scalar(context, 0), dft_length = inferred_scalar(context, 1);
  if (mel_bins.is_known() && mel_bins.value() < 0)
    context.fail("num_mel_bins is {}, expected at least 0", mel_bins.value());
  if (dft_length.is_known() && dft_length.value() < 1)
    context.fail("dft_length is {}, expected at least 1", dft_length.value());
  context.set_output(0, output_dtype(context), Shape{dft_length.floor_div(2) + 1, mel_bins});
}

void run_mel_weight_matrix(KernelContext& context) {
  const DType dtype = context.output(0).dtype();
  const Dims dims = context.output(0).dims();
  if (context.output(0).count() == 0) return;
  const int64_t mel_bins = dims[1];
  const auto edges = mel_edges(context, mel_bins, dims[0]);
  Tensor weights = Tensor::zeros(DType::f64, dims);
  double* out = weights.mutable_data<double>();
  for (int64_t i = 0; i < mel_bins; ++i) {
    const int64_t left = edges[static_cast<size_t>(i)], center = edges[static_cast<size_t>(i + 1)],
                  right = edges[static_cast<size_t>(i + 2)];
    if (left == center) out[center * mel_bins + i] = 1;
    for (int64_t k = left; k <= center && left != center; ++k)
      out[k * mel_bins + i] = static_cast<double>(k - left) / static_cast<double>(center - left);
    for (int64_t k = center; k < right; ++k)
      out[k * mel_bins + i] = static_cast<double>(right - k) / static_cast<double>(right - center);
  }
  context.set_output(0, convert(weights, dtype));
}

}  // namespace attune
