// Gradients of convolution, domain "attune", with the attributes of Conv: ConvGradData (diff_dst, weights -> diff_src)
// and ConvGradWeights (src, diff_dst -> diff_weights and, where wanted, diff_bias).
#include "ops/conv_shape.h"
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;
using ForwardDesc = dnnl::convolution_forward::primitive_desc;
using DataDesc = dnnl::convolution_backward_data::primitive_desc;
using WeightsDesc = dnnl::convolution_backward_weights::primitive_desc;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

/// The convolution whose gradient is asked for. Weights are in any order.
struct Problem {
  Desc src, weights, bias, dst;
  Desc plain_weights;
  WindowDims window;

  Problem(const Workload& workload, const TensorSpec& src_spec, const TensorSpec& weights_spec,
          const TensorSpec& dst_spec) {
    require_spatial(src_spec);
    require_float(workload, {0, 1});
    const Node node = workload.node();
    const ConvGeometry geometry = conv_geometry(OpContext(node), src_spec.dims, weights_spec.dims);
    window = window_dims(geometry.axes);
    src = describe(src_spec);
    dst = describe(dst_spec);
    const Dims weights_dims = grouped_weights(weights_spec.dims, geometry.groups);
    weights = describe_any(weights_spec.dtype, weights_dims);
    plain_weights = describe_plain(weights_spec.dtype, weights_dims);
  }

  /// oneDNN wants to see the forward convolution when it chooses a gradient.
  ForwardDesc forward() const {
    const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, kDirect, src, weights, bias, dst,
                                               window.strides, window.dilates, window.pads_begin, window.pads_end);
    return {desc, base_attributes(), engine()};
  }
};

bool is_data(const Workload& workload) { return workload.op == "ConvGradData"; }

Problem data_problem(const Workload& workload) {
  return {workload, workload.output(0), workload.input(1), workload.input(0)};
}

Problem weights_problem(const Workload& workload) {
  Problem problem(workload, workload.input(0), workload.output(0), workload.input(1));
  if (workload.outputs.size() > 1 && workload.outputs[1]) problem.bias = describe(workload.output(1));
  return problem;
}

std::vector<Implementation<DataDesc>> data_implementations(const Problem& problem) {
  const WindowDims& window = problem.window;
  const dnnl::convolution_backward_data::desc desc(kDirect, problem.src, problem.weights, problem.dst, window.strides,
                                                   window.dilates, window.pads_begin, window.pads_end);
  return without_references(list_implementations<DataDesc>(desc, base_attributes(), problem.forward()));
}

std::vector<Implementation<WeightsDesc>> weights_implementations(const Problem& problem) {
  const WindowDims& window = problem.window;
  const dnnl::convolution_backward_weights::desc desc(kDirect, problem.src, problem.weights, problem.bias, problem.dst,
                                                      window.strides, window.dilates, window.pads_begin,
                                                      window.pads_end);
  return without_references(list_implementations<WeightsDesc>(desc, base_attributes(), problem.forward()));
}

bool serves(const Workload& workload) {
  return workload.domain == "attune" && (is_data(workload) || workload.op == "ConvGradWeights");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  if (is_data(workload)) return Offer{implementation_configs(data_implementations(data_problem(workload)))};
  return Offer{implementation_configs(weights_implementations(weights_problem(workload)))};
}

PrimitiveProgram build_data(const Workload& workload, const Config& config) {
  const Problem problem = data_problem(workload);
  const DataDesc pd = choose_implementation(data_implementations(problem), config);
  PrimitiveProgram program;
  const Argument weights =
      program.packed_input(DNNL_ARG_WEIGHTS, workload, 1, problem.plain_weights, pd.weights_desc());
  program.steps.push_back({dnnl::convolution_backward_data(pd),
                           {{DNNL_ARG_DIFF_DST, problem.dst, Source::input, 0},
                            weights,
                            {DNNL_ARG_DIFF_SRC, problem.src, Source::output, 0}}});
  return program;
}

PrimitiveProgram build_weights(const Workload& workload, const Config& config) {
  const Problem problem = weights_problem(workload);
  const WeightsDesc pd = choose_implementation(weights_implementations(problem), config);
  const Desc native = pd.diff_weights_desc();
  PrimitiveProgram program;
  Argument diff_weights{DNNL_ARG_DIFF_WEIGHTS, native, Source::output, 0};
  if (native != problem.plain_weights) {
    program.temporaries.push_back(native);
    diff_weights.source = Source::temporary;
  }
  std::vector<Argument> arguments = {
      {DNNL_ARG_SRC, problem.src, Source::input, 0}, {DNNL_ARG_DIFF_DST, problem.dst, Source::input, 1}, diff_weights};
  if (!problem.bias.is_zero()) arguments.push_back({DNNL_ARG_DIFF_BIAS, problem.bias, Source::output, 1});
  program.steps.push_back({dnnl::convolution_backward_weights(pd), std::move(arguments)});
  if (native != problem.plain_weights) {
    const dnnl::reorder::primitive_desc unpack(engine(), native, engine(), problem.plain_weights, base_attributes());
    program.steps.push_back(
        {dnnl::reorder(unpack),
         {{DNNL_ARG_FROM, native, Source::temporary, 0}, {DNNL_ARG_TO, problem.plain_weights, Source::output, 0}}});
  }
  return program;
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  return std::make_unique<PrimitiveKernel>(is_data(workload) ? build_data(workload, config)
                                                             : build_weights(workload, config));
}

}  // namespace

const Family kConvGrad{serves, offer, build};

}  // namespace attune::onednn
