// Deconvolution: ConvTranspose in one to three spatial dims.
#include "ops/conv_transpose_axes.h"
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::deconvolution_forward::primitive_desc;
using Desc = dnnl::memory::desc;

constexpr size_t kBias = 2;  // position among the inputs

/// The weights of ONNX (in, out / groups, kernel…) under the dims that oneDNN names: (groups, out, in, kernel…).
Desc describe_onnx_weights(const TensorSpec& spec, int64_t groups) {
  Dims dims = spec.dims, strides(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  dims[0] /= groups;
  const int64_t group_stride = strides[0] * dims[0];
  std::swap(dims[0], dims[1]);
  std::swap(strides[0], strides[1]);
  if (groups > 1) {
    dims.insert(dims.begin(), groups);
    strides.insert(strides.begin(), group_stride);
  }
  return {dims, data_type(spec.dtype), strides};
}

/// A workload as oneDNN's deconvolution sees it.
struct Problem {
  Desc src, weights, bias, dst;  // weights in any order
  Desc onnx_weights;
  WindowDims window;

  explicit Problem(const Workload& workload) {
    const TensorSpec &src_spec = workload.input(0), &weights_spec = workload.input(1), &dst_spec = workload.output(0);
    require_spatial(src_spec);
    require_float(workload, {0, 1});
    const Node node = workload.node();
    const OpContext context(node);
    std::vector<WindowAxis> axes = conv_transpose_axes(context, src_spec.dims, weights_spec.dims, dst_spec.dims);
    for (WindowAxis& axis : axes) {
      const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
      axis.pad_end = (axis.out - 1) * axis.stride + reach - axis.pad_begin - axis.in;
    }
    window = window_dims(axes);
    src = describe(src_spec);
    dst = describe(dst_spec);
    onnx_weights = describe_onnx_weights(weights_spec, read_groups(context));
    weights = describe_any(weights_spec.dtype, onnx_weights.dims());
    if (workload.has_input(kBias)) bias = describe(workload.input(kBias));
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::deconvolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                                 dnnl::algorithm::deconvolution_direct, src, weights, bias, dst,
                                                 window.strides, window.dilates, window.pads_begin, window.pads_end);
    return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "ConvTranspose"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.src, Source::input, 0},
                                     {DNNL_ARG_DST, problem.dst, Source::output, 0}};
  arguments.push_back(program.packed_input(DNNL_ARG_WEIGHTS, workload, 1, problem.onnx_weights, pd.weights_desc()));
  if (workload.has_input(kBias)) arguments.push_back({DNNL_ARG_BIAS, problem.bias, Source::input, kBias});
  program.steps.push_back({dnnl::deconvolution_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kDeconv{serves, offer, build};

}  // namespace attune::onednn
