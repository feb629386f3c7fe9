// Convolution of bytes: QLinearConv and ConvInteger with signed weights whose zero point is 0, in channels-last order.
#include "ops/conv_shape.h"
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/quantization.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;
using Desc = dnnl::memory::desc;

/// Positions among the inputs of the two operators.
struct Places {
  size_t src_zero, weights, weights_zero, bias;
};
constexpr size_t kNowhere = Requantization::kNone;
constexpr Places kQLinear = {2, 3, 5, 8};
constexpr Places kInteger = {2, 1, 3, kNowhere};

bool is_integer(const Workload& workload) { return workload.op == "ConvInteger"; }
const Places& places_of(const Workload& workload) { return is_integer(workload) ? kInteger : kQLinear; }

struct Problem {
  Places at;
  Desc src, weights, plain_weights, bias, dst;
  WindowDims window;
  Dims scale_dims;  // [1, channels, 1, 1]
  std::optional<Requantization> requantization;
  dnnl::primitive_attr attributes = base_attributes();

  explicit Problem(const Workload& workload) : at(places_of(workload)) {
    require_exact_products();
    const TensorSpec &src_spec = workload.input(0), &weights_spec = workload.input(at.weights),
                     &dst_spec = workload.output(0);
    require_spatial(src_spec);
    if (weights_spec.dtype != DType::i8)
      throw UnsupportedError("oneDNN multiplies by signed weights, got {}", to_text(workload.inputs[at.weights]));
    if (has_zero_point(workload, at.weights_zero))
      throw UnsupportedError("oneDNN's convolution has no zero point of weights, and this one is not known to be 0");
    require_one(workload, at.src_zero, "the zero point of the input");
    const Node node = workload.node();
    const ConvGeometry geometry = conv_geometry(OpContext(node), src_spec.dims, weights_spec.dims);
    window = window_dims(geometry.axes);
    src = describe(src_spec);
    dst = describe(dst_spec);
    const Dims weights_dims = grouped_weights(weights_spec.dims, geometry.groups);
    weights = describe_any(DType::i8, weights_dims);
    plain_weights = describe_plain(DType::i8, weights_dims);
    if (has_zero_point(workload, at.src_zero)) attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
    scale_dims.assign(dst_spec.dims.size(), 1);
    scale_dims[1] = dst_spec.dims[1];
    if (is_integer(workload)) {
      const int64_t products = geometry.in_channels * geometry.kernel_size();
      if (products > kMostExactProducts)
        throw UnsupportedError("oneDNN's sums of {} products pass through f32, which holds {} exactly", products,
                               kMostExactProducts);
      return;
    }
    requantize(workload);
  }

  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
                                               src, weights, bias, dst, window.strides, window.dilates,
                                               window.pads_begin, window.pads_end);
    auto list = list_implementations<PrimitiveDesc>(desc, attributes);
    std::erase_if(list, [](const auto& one) { return !multiplies_exactly(one.name); });
    return list;
  }

 private:
  void requantize(const Workload& workload) {
    for (const size_t i : {size_t{1}, size_t{4}, size_t{6}})
      if (workload.input(i).dtype != DType::f32)
        throw UnsupportedError("scales must be f32, got {}", to_text(workload.inputs[i]));
    requantization = Requantization{.left = 1, .right = 4, .result = 6, .zero = 7};
    dnnl::post_ops ops;
    requantization->append(ops, workload, scale_dims);
    attributes.set_post_ops(ops);
    if (workload.has_input(at.bias)) bias = describe(workload.input(at.bias));
  }
};

bool serves(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "QLinearConv" || workload.op == "ConvInteger");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const Offer found{implementation_configs(Problem(workload).implementations())};
  if (found.configs.empty() && workload.input(0).layout != Layout::nhwc)
    return refuse("oneDNN convolves bytes in channels-last order only, got {}", to_text(workload.inputs[0]));
  return found;
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.src, Source::input, 0},
                                     {DNNL_ARG_DST, problem.dst, Source::output, 0}};
  arguments.push_back(
      program.packed_input(DNNL_ARG_WEIGHTS, workload, problem.at.weights, problem.plain_weights, pd.weights_desc()));
  if (workload.has_input(problem.at.bias))
    arguments.push_back({DNNL_ARG_BIAS, problem.bias, Source::input, problem.at.bias});
  if (has_zero_point(workload, problem.at.src_zero))
    arguments.push_back(
        zero_point_argument(program, workload, problem.at.src_zero, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC));
  if (problem.requantization) problem.requantization->bind(program, workload, problem.scale_dims, arguments);
  program.steps.push_back({dnnl::convolution_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kConvInt8{serves, offer, build};

}  // namespace attune::onednn
