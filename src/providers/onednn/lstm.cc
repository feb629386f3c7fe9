// LSTM with constant weights, default activations and no peepholes, in one or both directions.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/recurrent.h"
#include "providers/onednn/window.h"

#include <array>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::lstm_forward::primitive_desc;
using Desc = dnnl::memory::desc;

// Positions among the operator's inputs.
constexpr size_t kX = 0, kW = 1, kR = 2, kInitialH = 5, kInitialC = 6, kPeepholes = 7;

/// ONNX keeps the gates in the order i, o, f, c; the library wants i, f, c, o.
constexpr std::array<int64_t, 4> kGateOrder = {0, 2, 3, 1};
constexpr int64_t kGates = 4;

struct Problem {
  RecurrentDims dims;
  Desc src_layer, src_iter, src_iter_c, weights_layer, weights_iter, bias, dst_layer, dst_iter, dst_iter_c;

  Problem(const Workload& workload, const OpContext& context) : dims(workload, context) {
    require_float(workload, {kX, kW, kR});
    refuse_variants(workload, context);
    src_layer = describe_plain(DType::f32, workload.input(kX).dims);
    if (workload.has_input(kInitialH)) src_iter = describe_plain(DType::f32, dims.state());
    if (workload.has_input(kInitialC)) src_iter_c = describe_plain(DType::f32, dims.state());
    weights_layer = describe_any(DType::f32, {1, dims.directions, dims.input_size, kGates, dims.hidden});
    weights_iter = describe_any(DType::f32, {1, dims.directions, dims.hidden, kGates, dims.hidden});
    bias = describe_plain(DType::f32, {1, dims.directions, kGates, dims.hidden});
    dst_layer = describe_plain(DType::f32, dims.sequence());
    dst_iter = dst_iter_c = describe_plain(DType::f32, dims.state());
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::lstm_forward::desc desc(dnnl::prop_kind::forward_inference, dims.direction, src_layer, src_iter,
                                        src_iter_c, weights_layer, weights_iter, bias, dst_layer, dst_iter, dst_iter_c);
    return list_implementations<PrimitiveDesc>(desc, base_attributes());
  }

 private:
  static void refuse_variants(const Workload& workload, const OpContext& context) {
    require_plain_recurrence(workload, context);
    if (workload.has_input(kPeepholes)) throw UnsupportedError("peepholes");
    if (workload.has_input(kInitialH) != workload.has_input(kInitialC))
      throw UnsupportedError("one initial state without the other");
    constexpr std::string_view kDefault[] = {"Sigmoid", "Tanh", "Tanh"};
    if (!has_activations(context, kDefault)) throw UnsupportedError("activations other than Sigmoid, Tanh and Tanh");
    if (context.attr_int("input_forget", 0) != 0) throw UnsupportedError("attribute 'input_forget'");
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "LSTM"; }

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
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, problem.src_layer, Source::input, kX},
                                     {DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), Source::prepared, 0},
                                     {DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), Source::prepared, 1},
                                     {DNNL_ARG_BIAS, problem.bias, Source::prepared, 2}};
  if (workload.has_input(kInitialH)) {
    arguments.push_back({DNNL_ARG_SRC_ITER, problem.src_iter, Source::input, kInitialH});
    arguments.push_back({DNNL_ARG_SRC_ITER_C, problem.src_iter_c, Source::input, kInitialC});
  }
  arguments.push_back(result_argument(DNNL_ARG_DST_ITER, problem.dst_iter, workload, 1, program));
  arguments.push_back(result_argument(DNNL_ARG_DST_ITER_C, problem.dst_iter_c, workload, 2, program));
  append_recurrence(program, workload, problem.dims, dnnl::lstm_forward(pd), std::move(arguments));
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kLstm{serves, offer, build};

}  // namespace attune::onednn
