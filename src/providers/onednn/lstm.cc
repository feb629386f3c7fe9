// LSTM with constant weights, default activations and no peepholes, in one or both directions.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

#include <array>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::lstm_forward::primitive_desc;
using Desc = dnnl::memory::desc;

// Positions among the operator's inputs.
constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kInitialH = 5, kInitialC = 6, kPeepholes = 7;

/// ONNX keeps the gates in the order i, o, f, c; the library wants i, f, c, o.
constexpr std::array<int64_t, 4> kGateOrder = {0, 2, 3, 1};
constexpr int64_t kGates = 4;

struct Problem {
  int64_t steps, batch, input_size, hidden, directions;
  dnnl::rnn_direction direction;
  Desc src_layer, src_iter, src_iter_c, weights_layer, weights_iter, bias, dst_layer, dst_iter, dst_iter_c;

  explicit Problem(const Workload& workload) {
    require_float(workload, {kX, kW, kR});
    const Node node = workload.node();
    const OpContext context(node);
    refuse_variants(workload, context);
    const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
    if (x.size() != 3 || r.size() != 3) throw UnsupportedError("an LSTM of ranks {} and {}", x.size(), r.size());
    steps = x[0], batch = x[1], input_size = x[2], directions = r[0], hidden = r[2];
    const std::string way = context.attr_string("direction", "forward");
    direction = way == "reverse"         ? dnnl::rnn_direction::unidirectional_right2left
                : way == "bidirectional" ? dnnl::rnn_direction::bidirectional_concat
                                         : dnnl::rnn_direction::unidirectional_left2right;
    src_layer = describe_plain(DType::f32, x);
    const Dims state = {1, directions, batch, hidden};
    if (workload.has_input(kInitialH)) src_iter = describe_plain(DType::f32, state);
    if (workload.has_input(kInitialC)) src_iter_c = describe_plain(DType::f32, state);
    weights_layer = describe_any(DType::f32, {1, directions, input_size, kGates, hidden});
    weights_iter = describe_any(DType::f32, {1, directions, hidden, kGates, hidden});
    bias = describe_plain(DType::f32, {1, directions, kGates, hidden});
    dst_layer = describe_plain(DType::f32, {steps, batch, directions * hidden});
    dst_iter = dst_iter_c = describe_plain(DType::f32, state);
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::lstm_forward::desc desc(dnnl::prop_kind::forward_inference, direction, src_layer, src_iter, src_iter_c,
                                        weights_layer, weights_iter, bias, dst_layer, dst_iter, dst_iter_c);
    return list_implementations<PrimitiveDesc>(desc, base_attributes());
  }

 private:
  static void refuse_variants(const Workload& workload, const OpContext& context) {
    if (workload.input(kX).dtype != DType::f32)
      throw UnsupportedError("an LSTM in {}: its gates are packed as f32", dtype_name(workload.input(kX).dtype));
    if (!workload.input(kW).constant || !workload.input(kR).constant)
      throw UnsupportedError("weights must be constant");
    if (workload.has_input(kB) && !workload.input(kB).constant) throw UnsupportedError("the bias must be constant");
    if (workload.has_input(kLengths) || workload.has_input(kPeepholes))
      throw UnsupportedError("sequence lengths or peepholes");
    if (workload.has_input(kInitialH) != workload.has_input(kInitialC))
      throw UnsupportedError("one initial state without the other");
    for (const char* name : {"activations", "activation_alpha", "activation_beta", "clip"})
      if (context.has_attr(name) && !is_default(context, name)) throw UnsupportedError("attribute '{}'", name);
    if (context.attr_int("input_forget", 0) != 0 || context.attr_int("layout", 0) != 0)
      throw UnsupportedError("attribute 'input_forget' or 'layout'");
  }
  static bool is_default(const OpContext& context, std::string_view name) {
    if (name != "activations") return false;
    const auto& given = context.attr_strings(name);
    constexpr std::string_view kDefault[] = {"Sigmoid", "Tanh", "Tanh"};
    for (size_t i = 0; i < given.size(); ++i)
      if (given[i] != kDefault[i % 3]) return false;
    return true;
  }
};

/// [directions, 4 * hidden, inputs] by gates i, o, f, c → [1, directions, inputs, 4, hidden] by i, f, c, o.
Tensor gates_last(const Tensor& weights, int64_t hidden) {
  const int64_t directions = weights.dim(0), inputs = weights.dim(2);
  Tensor result = Tensor::allocate(DType::f32, {1, directions, inputs, kGates, hidden});
  const float* src = weights.data<float>();
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t h = 0; h < hidden; ++h) {
        const float* row = src + ((d * kGates + kGateOrder[static_cast<size_t>(gate)]) * hidden + h) * inputs;
        for (int64_t i = 0; i < inputs; ++i) dst[((d * inputs + i) * kGates + gate) * hidden + h] = row[i];
      }
  return result;
}

/// The sum of the two biases of ONNX, [directions, 8 * hidden] → [1, directions, 4, hidden]; zero when there is none.
Tensor summed_bias(const Tensor* bias, int64_t directions, int64_t hidden) {
  Tensor result = Tensor::zeros(DType::f32, {1, directions, kGates, hidden});
  if (bias == nullptr) return result;
  const float* src = bias->data<float>();
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t gate = 0; gate < kGates; ++gate)
      for (int64_t h = 0; h < hidden; ++h) {
        const int64_t from = (d * 2 * kGates + kGateOrder[static_cast<size_t>(gate)]) * hidden + h;
        dst[(d * kGates + gate) * hidden + h] = src[from] + src[from + kGates * hidden];
      }
  return result;
}

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "LSTM"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

/// An output of the operator, or a temporary where the node omits it.
Argument result_argument(int id, const Desc& desc, const Workload& workload, size_t output, PrimitiveProgram& program) {
  if (output < workload.outputs.size() && workload.outputs[output]) return {id, desc, Source::output, output};
  program.temporaries.push_back(desc);
  return {id, desc, Source::temporary, program.temporaries.size() - 1};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  const auto pack = [&](size_t input, const Desc& target, int64_t inputs) {
    const Desc plain = describe_plain(DType::f32, {1, problem.directions, inputs, kGates, problem.hidden});
    program.preparations.push_back(
        {{static_cast<int>(input)}, [=, hidden = problem.hidden](std::span<const Tensor* const> constants) {
           return reordered(gates_last(*constants[input], hidden), plain, target);
         }});
  };
  pack(kW, pd.weights_layer_desc(), problem.input_size);
  pack(kR, pd.weights_iter_desc(), problem.hidden);
  const bool has_bias = workload.has_input(kB);
  program.preparations.push_back(
      {has_bias ? std::vector<int>{static_cast<int>(kB)} : std::vector<int>{},
       [=, d = problem.directions, h = problem.hidden](std::span<const Tensor* const> constants) {
         return summed_bias(has_bias ? constants[kB] : nullptr, d, h);
       }});
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

  // The library writes both directions side by side for each item; ONNX wants one after the other. With one item or one
  // direction the two are the same bytes.
  const bool same_order = problem.batch == 1 || problem.directions == 1;
  const bool wants_sequence = !workload.outputs.empty() && workload.outputs[0];
  if (same_order || !wants_sequence) {
    arguments.push_back(result_argument(DNNL_ARG_DST_LAYER, problem.dst_layer, workload, 0, program));
    program.steps.push_back({dnnl::lstm_forward(pd), std::move(arguments)});
    return std::make_unique<PrimitiveKernel>(std::move(program));
  }
  program.temporaries.push_back(problem.dst_layer);
  const size_t beside = program.temporaries.size() - 1;
  arguments.push_back({DNNL_ARG_DST_LAYER, problem.dst_layer, Source::temporary, beside});
  program.steps.push_back({dnnl::lstm_forward(pd), std::move(arguments)});
  const int64_t row = problem.directions * problem.hidden;
  const Dims dims = {problem.steps, problem.directions, problem.batch, problem.hidden};
  const Desc from(dims, dnnl::memory::data_type::f32, dnnl::memory::dims{problem.batch * row, problem.hidden, row, 1});
  const Desc to = describe_plain(DType::f32, dims);
  const dnnl::reorder::primitive_desc reorder(engine(), from, engine(), to, base_attributes());
  program.steps.push_back({dnnl::reorder(reorder),
                           {{DNNL_ARG_FROM, from, Source::temporary, beside}, {DNNL_ARG_TO, to, Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kLstm{serves, offer, build};

}  // namespace attune::onednn
