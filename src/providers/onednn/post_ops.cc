#include "providers/onednn/post_ops.h"

#include "providers/onednn/memory.h"

namespace attune::onednn {
namespace {

using Kind = EpilogueStep::Kind;
using Algorithm = dnnl::algorithm;

/// The operand of a binary step, described to broadcast to the result. Implementations compute the place of a full
/// operand's element from the place of the result's, so its layout has to be the same.
dnnl::memory::desc describe_operand(const TensorSpec& operand, const TensorSpec& result) {
  const size_t rank = result.dims.size();
  TensorSpec spec = operand;
  bool spatial = false;  // has more than one element along a spatial axis
  for (size_t i = 2; i < spec.dims.size() && spec.dims.size() == rank; ++i) spatial |= spec.dims[i] != 1;
  const bool one_image = spec.dims.size() < rank || spec.dims[0] == 1;
  // Without spatial extent and for one image, every layout holds the channels in order.
  if (spec.layout != Layout::plain && spec.dims.size() == rank && !spatial && one_image) spec.layout = Layout::plain;
  if (spec.dims == result.dims && element_count(result.dims) > 1 && spec.layout != result.layout)
    throw UnsupportedError("an operand in layout {} cannot be joined to a result in layout {}",
                           layout_name(operand.layout), layout_name(result.layout));
  return describe_broadcast(spec, rank);
}

bool same_storage(const TensorSpec& a, const TensorSpec& b) {
  return a.dtype == b.dtype && a.dims == b.dims && a.layout == b.layout;
}

/// Several of its convolutions keep one set of parameters for each function: a leaky relu and a relu behind it would
/// both be leaky.
void require_one_set_of_parameters(const std::vector<Eltwise>& before, const Eltwise& next) {
  for (const Eltwise& eltwise : before)
    if (eltwise.algorithm == next.algorithm && (eltwise.alpha != next.alpha || eltwise.beta != next.beta))
      throw UnsupportedError("the epilogue has the same function twice with other parameters, which it would mix up");
}

bool varies_beyond_channels(const dnnl::memory::desc& desc) {
  const Dims dims = desc.dims();
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != 1 && dims[i] != 1) return true;
  return false;
}

}  // namespace

std::vector<Eltwise> eltwise_of(const EpilogueStep& step) {
  switch (step.kind) {
    case Kind::relu: return {{Algorithm::eltwise_relu}};
    case Kind::leaky_relu: return {{Algorithm::eltwise_relu, step.alpha}};
    case Kind::elu: return {{Algorithm::eltwise_elu, step.alpha}};
    case Kind::sigmoid: return {{Algorithm::eltwise_logistic}};
    case Kind::tanh: return {{Algorithm::eltwise_tanh}};
    case Kind::gelu_erf: return {{Algorithm::eltwise_gelu_erf}};
    case Kind::gelu_tanh: return {{Algorithm::eltwise_gelu_tanh}};
    case Kind::swish: return {{Algorithm::eltwise_swish, step.alpha}};
    case Kind::hard_sigmoid:  // not one function before oneDNN 2.7
      return {{Algorithm::eltwise_linear, step.alpha, step.beta}, {Algorithm::eltwise_clip_v2, 0.0F, 1.0F}};
    case Kind::hard_swish: return {{Algorithm::eltwise_hardswish}};
    case Kind::mish: return {{Algorithm::eltwise_mish}};
    case Kind::clip: return {{Algorithm::eltwise_clip_v2, step.alpha, step.beta}};
    case Kind::softplus: return {{Algorithm::eltwise_soft_relu}};
    case Kind::exp: return {{Algorithm::eltwise_exp}};
    case Kind::sqrt: return {{Algorithm::eltwise_sqrt}};
    case Kind::abs: return {{Algorithm::eltwise_abs}};
    case Kind::add:
    case Kind::mul: break;
  }
  throw InternalError("epilogue step '{}' is not an activation", to_text(step));
}

PostOps make_post_ops(const Workload& workload, const TensorSpec& result, Residual residual) {
  PostOps made{base_attributes(), {}, false, -1};
  dnnl::post_ops ops;
  std::vector<Eltwise> functions;
  for (const EpilogueStep& step : parse_epilogue(workload.attributes)) {
    if (!step.is_binary()) {
      for (const Eltwise& eltwise : eltwise_of(step)) {
        require_one_set_of_parameters(functions, eltwise);
        functions.push_back(eltwise);
        ops.append_eltwise(1.0F, eltwise.algorithm, eltwise.alpha, eltwise.beta);
      }
      continue;
    }
    const auto input = static_cast<size_t>(step.input);
    if (!workload.has_input(input)) throw UserError("epilogue step '{}' names a missing input", to_text(step));
    const TensorSpec& operand = workload.input(input);
    if (residual == Residual::sum && step.kind == Kind::add && made.summed_input < 0 && !operand.constant &&
        same_storage(operand, result)) {
      ops.append_sum(1.0F);
      made.summed_input = step.input;
      continue;
    }
    const auto desc = describe_operand(operand, result);
    made.arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1, desc, Source::input, input});
    made.operands_vary_beyond_channels |= varies_beyond_channels(desc);
    ops.append_binary(step.kind == Kind::add ? Algorithm::binary_add : Algorithm::binary_mul, desc);
  }
  made.attributes.set_post_ops(ops);
  return made;
}

}  // namespace attune::onednn
