// RNN, the simple recurrence, with constant weights and one activation for all directions.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/recurrent.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::vanilla_rnn_forward::primitive_desc;
using Desc = dnnl::memory::desc;

constexpr size_t kInitialH = 5;
constexpr int64_t kGateOrder[] = {0};

struct ActivationName {
  std::string_view name[1];
  dnnl::algorithm algorithm;
};
constexpr ActivationName kActivations[] = {{{"Tanh"}, dnnl::algorithm::eltwise_tanh},
                                           {{"Relu"}, dnnl::algorithm::eltwise_relu},
                                           {{"Sigmoid"}, dnnl::algorithm::eltwise_logistic}};

dnnl::algorithm activation_of(const OpContext& context) {
  for (const auto& [name, algorithm] : kActivations)
    if (has_activations(context, name)) return algorithm;
  throw UnsupportedError("activations other than Tanh, Relu or Sigmoid, or several");
}

struct Problem {
  RecurrentDims dims;
  dnnl::algorithm activation;
  Desc src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter;

  Problem(const Workload& workload, const OpContext& context)
      : dims(workload, context), activation(activation_of(context)) {
    for (size_t i = 0; i < 3; ++i)
      if (workload.input(i).dtype != DType::f32)
        throw UnsupportedError("recurrence takes f32, got {}", to_text(workload.inputs[i]));
    require_plain_recurrence(workload, context);
    src_layer = describe_plain(DType::f32, workload.input(0).dims);
    if (workload.has_input(kInitialH)) src_iter = describe_plain(DType::f32, dims.state());
    weights_layer = describe_any(DType::f32, {1, dims.directions, dims.input_size, 1, dims.hidden});
    weights_iter = describe_any(DType::f32, {1, dims.directions, dims.hidden, 1, dims.hidden});
    bias = describe_plain(DType::f32, {1, dims.directions, 1, dims.hidden});
    dst_layer = describe_plain(DType::f32, dims.sequence());
    dst_iter = describe_plain(DType::f32, dims.state());
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::vanilla_rnn_forward::desc desc(dnnl::prop_kind::forward_inference, activation, dims.direction,
                                               src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer,
                                               dst_iter);
    return list_implementations<PrimitiveDesc>(desc, base_attributes());
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "RNN"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const Node node = workload.node();
  return Offer{implementation_configs(Problem(workload, OpContext(node)).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Node node = workload.node();
  const Problem problem(workload, OpContext(node));
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  pack_weights(program, problem.dims, kGateOrder, pd.weights_layer_desc(), pd.weights_iter_desc());
  pack_summed_bias(program, workload, problem.dims, kGateOrder);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, problem.src_layer, Source::input, 0},
                                     {DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), Source::prepared, 0},
                                     {DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), Source::prepared, 1},
                                     {DNNL_ARG_BIAS, problem.bias, Source::prepared, 2}};
  if (workload.has_input(kInitialH))
    arguments.push_back({DNNL_ARG_SRC_ITER, problem.src_iter, Source::input, kInitialH});
  arguments.push_back(result_argument(DNNL_ARG_DST_ITER, problem.dst_iter, workload, 1, program));
  append_recurrence(program, workload, problem.dims, dnnl::vanilla_rnn_forward(pd), std::move(arguments));
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kRnn{serves, offer, build};

}  // namespace attune::onednn
