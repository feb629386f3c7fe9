// Elementwise functions of one tensor, in any layout.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/post_ops.h"
#include "providers/onednn/window.h"

#include <algorithm>
#include <limits>

namespace attune::onednn {
namespace {

using Kind = EpilogueStep::Kind;
using PrimitiveDesc = dnnl::eltwise_forward::primitive_desc;

/// The function that an operator is; nothing when it is none of oneDNN's or its parameters are not plain numbers.
std::optional<EpilogueStep> step_of(const Workload& workload) {
  const Node node = workload.node();
  const OpContext context(node);
  const std::string& op = workload.op;
  if (op == "Relu") return EpilogueStep{Kind::relu};
  if (op == "LeakyRelu") return EpilogueStep{Kind::leaky_relu, -1, context.attr_float("alpha", 0.01f), 0};
  if (op == "Elu") return EpilogueStep{Kind::elu, -1, context.attr_float("alpha", 1.0f), 0};
  if (op == "Sigmoid") return EpilogueStep{Kind::sigmoid};
  if (op == "Tanh") return EpilogueStep{Kind::tanh};
  if (op == "Swish") return EpilogueStep{Kind::swish, -1, context.attr_float("alpha", 1.0f), 0};
  if (op == "HardSwish") return EpilogueStep{Kind::hard_swish};
  if (op == "HardSigmoid")
    return EpilogueStep{Kind::hard_sigmoid, -1, context.attr_float("alpha", 0.2f), context.attr_float("beta", 0.5f)};
  if (op == "Mish") return EpilogueStep{Kind::mish};
  if (op == "Gelu")
    return EpilogueStep{context.attr_string("approximate", "none") == "tanh" ? Kind::gelu_tanh : Kind::gelu_erf};
  if (op == "Exp") return EpilogueStep{Kind::exp};
  if (op == "Sqrt") return EpilogueStep{Kind::sqrt};
  if (op == "Abs") return EpilogueStep{Kind::abs};
  // Not Softplus: the library's approximation is off by 1 % where the result is small. Nor Log, which is off by 3e-5 of
  // the largest result around 1.
  return std::nullopt;
}

dnnl::eltwise_forward::desc describe_problem(const Workload& workload, const Eltwise& function) {
  return {dnnl::prop_kind::forward_inference, function.algorithm, describe(workload.input(0)), function.alpha,
          function.beta};
}

bool serves(const Workload& workload) {
  if (!workload.domain.empty() || workload.inputs.size() != 1) return false;
  return workload.op == "Round" || workload.op == "Neg" || step_of(workload);
}

/// The operator as functions of oneDNN, applied in order.
std::vector<Eltwise> functions_of(const Workload& workload) {
  require_float(workload, {0});
  if (workload.op == "Round") return {{dnnl::algorithm::eltwise_round}};
  if (workload.op == "Neg") return {{dnnl::algorithm::eltwise_linear, -1.0F, 0.0F}};
  return eltwise_of(*step_of(workload));
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  // An implementation serves when it has every function.
  std::optional<std::vector<Config>> common;
  for (const Eltwise& function : functions_of(workload)) {
    const auto desc = describe_problem(workload, function);
    const auto configs = implementation_configs(list_implementations<PrimitiveDesc>(desc, base_attributes()));
    if (!common) common = configs;
    std::erase_if(*common, [&](const Config& config) { return std::ranges::find(configs, config) == configs.end(); });
  }
  return Offer{common.value_or(std::vector<Config>{})};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  PrimitiveProgram program;
  for (const Eltwise& function : functions_of(workload)) {
    const auto desc = describe_problem(workload, function);
    const auto pd = choose_implementation(list_implementations<PrimitiveDesc>(desc, base_attributes()), config);
    // The first function reads the input, those after it work in place.
    const Source source = program.steps.empty() ? Source::input : Source::output;
    program.steps.push_back(
        {dnnl::eltwise_forward(pd),
         {{DNNL_ARG_SRC, pd.src_desc(), source, 0}, {DNNL_ARG_DST, pd.dst_desc(), Source::output, 0}}});
  }
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kEltwise{serves, offer, build};

}  // namespace attune::onednn
