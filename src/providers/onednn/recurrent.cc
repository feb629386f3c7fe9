#include "providers/onednn/recurrent.h"

#include "providers/onednn/memory.h"

namespace attune::onednn {
namespace {

using Desc = dnnl::memory::desc;

constexpr size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4;

}  // namespace

RecurrentDims::RecurrentDims(const Workload& workload, const OpContext& context) {
  const Dims &x = workload.input(kX).dims, &r = workload.input(kR).dims;
  if (x.size() != 3 || r.size() != 3) throw UnsupportedError("recurrence of ranks {} and {}", x.size(), r.size());
  if (context.attr_int("layout", 0) != 0) throw UnsupportedError("attribute 'layout'");
  steps = x[0], batch = x[1], input_size = x[2], directions = r[0], hidden = r[2];
  const std::string way = context.attr_string("direction", "forward");
  direction = way == "reverse"         ? dnnl::rnn_direction::unidirectional_right2left
              : way == "bidirectional" ? dnnl::rnn_direction::bidirectional_concat
                                       : dnnl::rnn_direction::unidirectional_left2right;
}

void require_plain_recurrence(const Workload& workload, const OpContext& context) {
  const DType dtype = workload.input(kX).dtype;
  if (dtype != DType::f32) throw UnsupportedError("a recurrence in {}: gates are packed as f32", dtype_name(dtype));
  if (!workload.input(kW).constant || !workload.input(kR).constant) throw UnsupportedError("weights must be constant");
  if (workload.has_input(kB) && !workload.input(kB).constant) throw UnsupportedError("the bias must be constant");
  if (workload.has_input(kLengths)) throw UnsupportedError("sequence lengths");
  for (const char* name : {"activation_alpha", "activation_beta", "clip"})
    if (context.has_attr(name)) throw UnsupportedError("attribute '{}'", name);
}

bool has_activations(const OpContext& context, std::span<const std::string_view> names) {
  if (!context.has_attr("activations")) return true;
  const auto& given = context.attr_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != names[i % names.size()]) return false;
  return true;
}

Tensor gates_last(const Tensor& weights, int64_t hidden, std::span<const int64_t> order) {
  const int64_t directions = weights.dim(0), inputs = weights.dim(2), gates = std::ssize(order);
  Tensor result = Tensor::allocate(DType::f32, {1, directions, inputs, gates, hidden});
  const float* src = weights.data<float>();
  float* dst = result.mutable_data<float>();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t gate = 0; gate < gates; ++gate)
      for (int64_t h = 0; h < hidden; ++h) {
        const float* row = src + ((d * gates + order[static_cast<size_t>(gate)]) * hidden + h) * inputs;
        for (int64_t i = 0; i < inputs; ++i) dst[((d * inputs + i) * gates + gate) * hidden + h] = row[i];
      }
  return result;
}

void pack_weights(PrimitiveProgram& program, const RecurrentDims& dims, std::span<const int64_t> order,
                  const Desc& layer, const Desc& iteration) {
  const auto pack = [&](size_t input, const Desc& target, int64_t inputs) {
    const Desc plain = describe_plain(DType::f32, {1, dims.directions, inputs, std::ssize(order), dims.hidden});
    program.preparations.push_back(
        {{static_cast<int>(input)}, [=, hidden = dims.hidden](std::span<const Tensor* const> constants) {
           return reordered(gates_last(*constants[input], hidden, order), plain, target);
         }});
  };
  pack(kW, layer, dims.input_size);
  pack(kR, iteration, dims.hidden);
}

void pack_summed_bias(PrimitiveProgram& program, const Workload& workload, const RecurrentDims& dims,
                      std::span<const int64_t> order) {
  const bool given = workload.has_input(kB);
  const std::vector<int64_t> places(order.begin(), order.end());
  const int64_t directions = dims.directions, hidden = dims.hidden, gates = std::ssize(order);
  const auto sum = [=](std::span<const Tensor* const> constants) {
    Tensor result = Tensor::zeros(DType::f32, {directions, gates, hidden});
    if (!given) return result;
    const float* src = constants[kB]->data<float>();
    float* dst = result.mutable_data<float>();
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t gate = 0; gate < gates; ++gate)
        for (int64_t h = 0; h < hidden; ++h) {
          const int64_t from = (d * 2 * gates + places[static_cast<size_t>(gate)]) * hidden + h;
          dst[(d * gates + gate) * hidden + h] = src[from] + src[from + gates * hidden];
        }
    return result;
  };
  program.preparations.push_back({given ? std::vector<int>{static_cast<int>(kB)} : std::vector<int>{}, sum});
}

Argument result_argument(int id, const Desc& desc, const Workload& workload, size_t output, PrimitiveProgram& program) {
  if (output < workload.outputs.size() && workload.outputs[output]) return {id, desc, Source::output, output};
  program.temporaries.push_back(desc);
  return {id, desc, Source::temporary, program.temporaries.size() - 1};
}

void append_recurrence(PrimitiveProgram& program, const Workload& workload, const RecurrentDims& dims,
                       dnnl::primitive primitive, std::vector<Argument> arguments) {
  const Desc layer = describe_plain(DType::f32, dims.sequence());
  // The library writes both directions side by side for each item; ONNX wants one after the other. With one item or one
  // direction the two are the same bytes.
  const bool same_order = dims.batch == 1 || dims.directions == 1;
  const bool wants_sequence = !workload.outputs.empty() && workload.outputs[0];
  if (same_order || !wants_sequence) {
    arguments.push_back(result_argument(DNNL_ARG_DST_LAYER, layer, workload, 0, program));
    program.steps.push_back({std::move(primitive), std::move(arguments)});
    return;
  }
  program.temporaries.push_back(layer);
  const size_t beside = program.temporaries.size() - 1;
  arguments.push_back({DNNL_ARG_DST_LAYER, layer, Source::temporary, beside});
  program.steps.push_back({std::move(primitive), std::move(arguments)});
  const int64_t row = dims.directions * dims.hidden;
  const Dims apart = {dims.steps, dims.directions, dims.batch, dims.hidden};
  const Desc from(apart, dnnl::memory::data_type::f32, dnnl::memory::dims{dims.batch * row, dims.hidden, row, 1});
  const Desc to = describe_plain(DType::f32, apart);
  const dnnl::reorder::primitive_desc reorder(engine(), from, engine(), to, base_attributes());
  program.steps.push_back({dnnl::reorder(reorder),
                           {{DNNL_ARG_FROM, from, Source::temporary, beside}, {DNNL_ARG_TO, to, Source::output, 0}}});
}

}  // namespace attune::onednn
