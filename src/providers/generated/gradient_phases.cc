#include "providers/generated/gradient_phases.h"

#include "ops/context.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace attune::generated {
namespace {

constexpr int64_t kMostPhases = 16;

/// The part of one axis that begins at `offset` and has every stride-th pixel.
struct AxisPhase {
  int64_t offset = 0;
  WindowAxis window;          // over the results' gradient
  std::vector<int64_t> taps;  // of the filter, in the order of the window's
};

/// Pixel i gets something from result o by tap k where i = o * stride + k * dilation - pad. Among the pixels of a phase
/// one further means one result further, and every so many taps there is a whole result between.
AxisPhase axis_phase(const WindowAxis& axis, int64_t offset) {
  AxisPhase phase;
  phase.offset = offset;
  for (int64_t k = axis.kernel - 1; k >= 0; --k)
    if ((offset + axis.pad_begin - k * axis.dilation) % axis.stride == 0) phase.taps.push_back(k);
  phase.window.in = axis.out;
  phase.window.out = (axis.in - offset + axis.stride - 1) / axis.stride;
  phase.window.kernel = std::ssize(phase.taps);
  phase.window.dilation = axis.dilation / std::gcd(axis.dilation, axis.stride);
  if (!phase.taps.empty())
    phase.window.pad_begin = -(offset + axis.pad_begin - phase.taps.front() * axis.dilation) / axis.stride;
  return phase;
}

/// Calls call(places) with all combinations of a place below each count, the last fastest.
template <class Call> void for_places(const std::vector<int64_t>& counts, const Call& call) {
  std::vector<int64_t> places(counts.size(), 0);
  int64_t left = std::accumulate(counts.begin(), counts.end(), int64_t{1}, std::multiplies<>());
  for (; left > 0; --left) {
    call(places);
    for (size_t i = counts.size(); i-- > 0 && ++places[i] == counts[i];) places[i] = 0;
  }
}

/// A place in a box of these sizes, the last fastest.
int64_t position(const std::vector<int64_t>& places, const std::vector<int64_t>& sizes) {
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) at = at * sizes[i] + places[i];
  return at;
}

/// `forward` is the geometry of the convolution itself.
GradientPhase make_phase(const ConvGeometry& forward, const std::vector<AxisPhase>& axes, const TensorSpec& src) {
  GradientPhase phase;
  std::vector<int64_t> pixels, taps, data, filter;
  for (size_t i = 0; i < axes.size(); ++i) {
    pixels.push_back(axes[i].window.out);
    taps.push_back(axes[i].window.kernel);
    data.push_back(forward.axes[i].in);
    filter.push_back(forward.axes[i].kernel);
  }
  const int64_t row = forward.groups * forward.in_channels;
  for (int64_t image = 0; image < forward.batch; ++image)
    for_places(pixels, [&](std::vector<int64_t> places) {
      for (size_t i = 0; i < places.size(); ++i) places[i] = axes[i].offset + places[i] * forward.axes[i].stride;
      phase.dst_at.push_back(static_cast<int32_t>((image * forward.in_size() + position(places, data)) * row));
    });
  if (std::ranges::find(taps, 0) != taps.end()) return phase;
  ConvGeometry mirrored = forward;
  std::swap(mirrored.in_channels, mirrored.out_channels);
  for (size_t i = 0; i < axes.size(); ++i) mirrored.axes[i] = axes[i].window;
  ProductProblem problem = std::get<ProductProblem>(convolution_problem(std::move(mirrored), src));
  problem.mirrored = true;
  problem.shape.dst_by_table = true;
  problem.filter_size = forward.kernel_size();
  for_places(taps, [&](std::vector<int64_t> places) {
    for (size_t i = 0; i < places.size(); ++i) places[i] = axes[i].taps[static_cast<size_t>(places[i])];
    problem.filter_taps.push_back(position(places, filter));
  });
  phase.product = std::move(problem);
  return phase;
}

/// Why there are no phases of a gradient by data that has its operands.
std::optional<Refusal> find_refusal(const ConvGeometry& forward, const Workload& workload) {
  int64_t phases = 1;
  for (const WindowAxis& axis : forward.axes) phases *= axis.stride;
  if (phases == 1) return refuse("without strides a gradient by data is one convolution");
  if (phases > kMostPhases)
    return refuse("pixels lie at {} places between the strides, of which kernels know {}", phases, kMostPhases);
  if (forward.groups > 1 && forward.out_channels < 4)
    return refuse("groups of {} channels are no matrix product worth the name", forward.out_channels);
  for (const TensorSpec* spec : {&workload.input(0), &workload.output(0)})
    if (element_count(spec->dims) > std::numeric_limits<int32_t>::max())
      return refuse("{} has more elements than row positions of 32 bits reach", to_text(*spec));
  return std::nullopt;
}

}  // namespace

std::variant<std::vector<GradientPhase>, Refusal> gradient_phases(const Workload& workload) {
  if (!is_data_gradient(workload)) return refuse("operator '{}' is no gradient by data", workload.op);
  const TensorSpec &src = workload.input(0), &weights = workload.input(1), &dst = workload.output(0);
  for (const TensorSpec* spec : {&src, &weights, &dst})
    if (spec->dtype != src.dtype || (spec->dtype != DType::f32 && spec->dtype != DType::bf16))
      return refuse("gradients by data are generated for f32 and bf16 alone, got {}", to_text(*spec));
  if (!weights.constant) return refuse("the filters are not constant, so they cannot be packed ahead");
  if (src.dims.size() < 3) return refuse("a convolution without spatial dims");
  if (src.layout != Layout::nhwc || dst.layout != Layout::nhwc)
    return refuse("gradients by data are generated for channels-last maps, got {} -> {}", to_text(src), to_text(dst));
  if (element_count(src.dims) == 0 || element_count(weights.dims) == 0 || element_count(dst.dims) == 0)
    return refuse("an operand is empty");
  const Node node = workload.node();
  const ConvGeometry forward = conv_geometry(OpContext(node), dst.dims, weights.dims);
  if (auto refusal = find_refusal(forward, workload)) return *refusal;
  std::vector<int64_t> offsets;
  for (const WindowAxis& axis : forward.axes) offsets.push_back(std::min(axis.stride, axis.in));
  std::vector<GradientPhase> phases;
  for_places(offsets, [&](const std::vector<int64_t>& places) {
    std::vector<AxisPhase> axes;
    for (size_t i = 0; i < places.size(); ++i) axes.push_back(axis_phase(forward.axes[i], places[i]));
    phases.push_back(make_phase(forward, axes, src));
  });
  return phases;
}

}  // namespace attune::generated
