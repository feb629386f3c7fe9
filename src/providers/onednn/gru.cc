// GRU in both of its forms, with constant weights and default activations, in one or both directions.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/recurrent.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;

constexpr size_t kB = 3, kInitialH = 5;
constexpr int64_t kGates = 3;
constexpr int64_t kGateOrder[] = {0, 1, 2};  // update, reset, candidate: as in ONNX

struct Problem {
  RecurrentDims dims;
  bool reset_behind;  // linear_before_reset: the reset gate multiplies the product, which has a bias of its own
  Desc src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter;

  Problem(const Workload& workload, const OpContext& context)
      : dims(workload, context), reset_behind(context.attr_int("linear_before_reset", 0) != 0) {
    for (size_t i = 0; i < 3; ++i)
      if (workload.input(i).dtype != DType::f32)
        throw UnsupportedError("recurrence takes f32, got {}", to_text(workload.inputs[i]));
    require_plain_recurrence(workload, context);
    constexpr std::string_view kDefault[] = {"Sigmoid", "Tanh"};
    if (!has_activations(context, kDefault)) throw UnsupportedError("activations other than Sigmoid and Tanh");
    src_layer = describe_plain(DType::f32, workload.input(0).dims);
    if (workload.has_input(kInitialH)) src_iter = describe_plain(DType::f32, dims.state());
    weights_layer = describe_any(DType::f32, {1, dims.directions, dims.input_size, kGates, dims.hidden});
    weights_iter = describe_any(DType::f32, {1, dims.directions, dims.hidden, kGates, dims.hidden});
    bias = describe_plain(DType::f32, {1, dims.directions, bias_gates(), dims.hidden});
    dst_layer = describe_plain(DType::f32, dims.sequence());
    dst_iter = describe_plain(DType::f32, dims.state());
  }
  int64_t bias_gates() const { return reset_behind ? kGates + 1 : kGates; }

  /// Forward is dnnl::gru_forward or dnnl::lbr_gru_forward.
  template <class Forward> auto implementations() const {
    const typename Forward::desc desc(dnnl::prop_kind::forward_inference, dims.direction, src_layer, src_iter,
                                      weights_layer, weights_iter, bias, dst_layer, dst_iter);
    return list_implementations<typename Forward::primitive_desc>(desc, base_attributes());
  }
};

/// [directions, 6 * hidden], those of W and then those of R, → [1, directions, gates, hidden]: summed, apart from the
/// candidate's where the reset gate comes behind. Zero when there is none.
Tensor joined_bias(const Tensor* given, int64_t directions, int64_t hidden, bool reset_behind) {
  const int64_t gates = reset_behind ? kGates + 1 : kGates;
  Tensor result = Tensor::zeros(DType::f32, {1, directions, gates, hidden});
  if (given == nullptr) return result;
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t h = 0; h < hidden; ++h) {
        const float* w = given->data<float>() + (d * 2 * kGates + gate) * hidden + h;
        const float r = w[kGates * hidden];
        float* out = result.mutable_data<float>() + (d * gates + gate) * hidden + h;
        const bool apart = reset_behind && gate == kGates - 1;
        *out = apart ? *w : *w + r;
        if (apart) out[hidden] = r;
      }
  return result;
}

template <class Forward>
std::unique_ptr<Kernel> make(const Workload& workload, const Config& config, const Problem& problem) {
  const auto pd = choose_implementation(problem.implementations<Forward>(), config);
  PrimitiveProgram program;
  pack_weights(program, problem.dims, kGateOrder, pd.weights_layer_desc(), pd.weights_iter_desc());
  const bool has_bias = workload.has_input(kB);
  program.preparations.push_back({has_bias ? std::vector<int>{static_cast<int>(kB)} : std::vector<int>{},
                                  [=, d = problem.dims.directions, h = problem.dims.hidden,
                                   behind = problem.reset_behind](std::span<const Tensor* const> constants) {
                                    return joined_bias(has_bias ? constants[kB] : nullptr, d, h, behind);
                                  }});
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_LAYER, problem.src_layer, Source::input, 0},
                                     {DNNL_ARG_WEIGHTS_LAYER, pd.weights_layer_desc(), Source::prepared, 0},
                                     {DNNL_ARG_WEIGHTS_ITER, pd.weights_iter_desc(), Source::prepared, 1},
                                     {DNNL_ARG_BIAS, problem.bias, Source::prepared, 2}};
  if (workload.has_input(kInitialH))
    arguments.push_back({DNNL_ARG_SRC_ITER, problem.src_iter, Source::input, kInitialH});
  arguments.push_back(result_argument(DNNL_ARG_DST_ITER, problem.dst_iter, workload, 1, program));
  append_recurrence(program, workload, problem.dims, Forward(pd), std::move(arguments));
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "GRU"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const Node node = workload.node();
  const Problem problem(workload, OpContext(node));
  if (problem.reset_behind) return Offer{implementation_configs(problem.implementations<dnnl::lbr_gru_forward>())};
  return Offer{implementation_configs(problem.implementations<dnnl::gru_forward>())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Node node = workload.node();
  const Problem problem(workload, OpContext(node));
  if (problem.reset_behind) return make<dnnl::lbr_gru_forward>(workload, config, problem);
  return make<dnnl::gru_forward>(workload, config, problem);
}

}  // namespace

const Family kGru{serves, offer, build};

}  // namespace attune::onednn
