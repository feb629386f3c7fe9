// Pooling: MaxPool, AveragePool and their global forms.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::pooling_v2_forward::primitive_desc;
using Algorithm = dnnl::algorithm;

bool is_max(const Workload& workload) { return workload.op == "MaxPool" || workload.op == "GlobalMaxPool"; }

/// The windows with the padding at the end that the output's extent needs (ceil_mode lets the last window reach beyond
/// what the attributes say).
std::vector<WindowAxis> pool_axes(const Workload& workload, const OpContext& context) {
  const auto spatial = std::span(workload.input(0).dims).subspan(2);
  std::vector<WindowAxis> axes;
  if (workload.op.starts_with("Global")) {
    for (const int64_t extent : spatial) axes.push_back({.in = extent, .out = 1, .kernel = extent});
    return axes;
  }
  axes = window_axes(context, read_pool_window(context, std::ssize(spatial)), spatial);
  const bool counts_padding = context.attr_int("count_include_pad", 0) != 0;
  for (WindowAxis& axis : axes) {
    for (int64_t o = 0; o < axis.out; ++o) {
      const TapRange taps = taps_inside(axis, axis.start(o));
      if (taps.begin == taps.end) throw UnsupportedError("a window lies in the padding altogether");
    }
    const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
    const int64_t needed = (axis.out - 1) * axis.stride + reach - axis.in - axis.pad_begin;
    if (needed <= axis.pad_end) continue;
    if (counts_padding) throw UnsupportedError("oneDNN counts what ceil_mode lets a window reach beyond the padding");
    axis.pad_end = needed;
  }
  return axes;
}

Algorithm algorithm_of(const Workload& workload, const OpContext& context) {
  if (is_max(workload)) return Algorithm::pooling_max;
  return context.attr_int("count_include_pad", 0) != 0 ? Algorithm::pooling_avg_include_padding
                                                       : Algorithm::pooling_avg_exclude_padding;
}

std::vector<Implementation<PrimitiveDesc>> implementations(const Workload& workload) {
  const TensorSpec &src = workload.input(0), &dst = workload.output(0);
  require_spatial(src);
  const bool bytes = src.dtype == DType::u8 || src.dtype == DType::i8;
  if (!bytes || !is_max(workload)) require_float(workload, {0});  // a mean of bytes is rounded in ways of its own
  if (workload.outputs.size() > 1 && workload.outputs[1])
    throw UnsupportedError("oneDNN's indices of maxima are not those of ONNX");
  const Node node = workload.node();
  const OpContext context(node);
  const WindowDims window = window_dims(pool_axes(workload, context));
  const dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm_of(workload, context),
                                            describe(src), describe(dst), window.strides, window.kernel, window.dilates,
                                            window.pads_begin, window.pads_end);
  return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
}

bool serves(const Workload& workload) {
  return workload.domain.empty() &&
         (is_max(workload) || workload.op == "AveragePool" || workload.op == "GlobalAveragePool");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(implementations(workload))};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const PrimitiveDesc pd = choose_implementation(implementations(workload), config);
  PrimitiveProgram program;
  program.steps.push_back({dnnl::pooling_v2_forward(pd),
                           {{DNNL_ARG_SRC, describe(workload.input(0)), Source::input, 0},
                            {DNNL_ARG_DST, describe(workload.output(0)), Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kPool{serves, offer, build};

}  // namespace attune::onednn
