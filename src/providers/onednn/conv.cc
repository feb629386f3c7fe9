// Convolution: Conv and attune::FusedConv in one to three spatial dims.
#include "ops/conv_shape.h"
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/post_ops.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::convolution_forward::primitive_desc;
using Desc = dnnl::memory::desc;

constexpr size_t kBias = 2;  // position among the inputs

struct AlgorithmName {
  std::string_view name;
  dnnl::algorithm algorithm;
};
constexpr AlgorithmName kAlgorithms[] = {{"direct", dnnl::algorithm::convolution_direct},
                                         {"winograd", dnnl::algorithm::convolution_winograd}};

/// A workload as oneDNN's convolution sees it.
struct Problem {
  Desc src, weights, bias, dst;  // weights in any order
  Desc plain_weights;
  WindowDims window;
  PostOps post_ops;

  Problem(const Workload& workload, Residual residual) {
    const TensorSpec &src_spec = workload.input(0), &weights_spec = workload.input(1), &dst_spec = workload.output(0);
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
    if (workload.has_input(kBias)) bias = describe(workload.input(kBias));
    post_ops = make_post_ops(workload, dst_spec, residual);
  }

  std::vector<Implementation<PrimitiveDesc>> implementations(dnnl::algorithm algorithm) const {
    const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, src, weights, bias, dst,
                                               window.strides, window.dilates, window.pads_begin, window.pads_end);
    return list_implementations<PrimitiveDesc>(desc, post_ops.attributes);
  }
};

/// A column as a row: maps of width 1 are the same bytes as maps of height 1, in every layout, and kernels go along
/// rows.
Workload turned(Workload workload) {
  const auto is_column = [](const TensorSpec& spec) { return spec.dims.size() == 4 && spec.dims[3] == 1; };
  if (!is_column(workload.input(0)) || !is_column(workload.input(1)) || !is_column(workload.output(0))) return workload;
  const auto swap_dims = [](std::optional<TensorSpec>& spec) {
    if (spec && spec->dims.size() == 4) std::swap(spec->dims[2], spec->dims[3]);
  };
  for (auto& spec : workload.inputs) swap_dims(spec);
  for (auto& spec : workload.outputs) swap_dims(spec);
  for (const char* name : {"kernel_shape", "strides", "dilations", "pads"}) {
    const auto found = workload.attributes.find(name);
    if (found == workload.attributes.end()) continue;
    auto& values = std::get<std::vector<int64_t>>(found->second);
    for (size_t i = 0; i + 1 < values.size(); i += 2) std::swap(values[i], values[i + 1]);
  }
  return workload;
}

/// Whether an implementation is worth offering: the reference is thousands of times slower than any other, and the
/// matrix product one of oneDNN 2.6 takes the wrong elements of operands in channels-last order.
bool is_sound(const std::string& name, const Workload& workload, const PostOps& post_ops) {
  if (is_reference(name)) return false;
  const bool by_gemm = name.find("gemm") != std::string::npos;
  return !(by_gemm && workload.output(0).layout == Layout::nhwc && post_ops.operands_vary_beyond_channels);
}

bool serves(const Workload& workload) {
  return (workload.domain.empty() && workload.op == "Conv") ||
         (workload.domain == "attune" && workload.op == "FusedConv");
}

void append_configs(const Workload& workload, Residual residual, std::vector<Config>& configs) {
  const Problem problem(workload, residual);
  if (residual == Residual::sum && problem.post_ops.summed_input < 0) return;
  for (const auto& [name, algorithm] : kAlgorithms)
    for (const auto& one : problem.implementations(algorithm)) {
      if (!is_sound(one.name, workload, problem.post_ops)) continue;
      Config config{{"algorithm", std::string(name)}, {"impl", one.name}};
      if (residual == Residual::sum) config["residual"] = "sum";
      configs.push_back(std::move(config));
    }
}

std::variant<Offer, Refusal> offer(const Workload& given) {
  const Workload workload = turned(given);
  Offer result;
  append_configs(workload, Residual::binary, result.configs);
  append_configs(workload, Residual::sum, result.configs);
  return result;
}

dnnl::algorithm algorithm_of(const Config& config) {
  const auto wanted = config.find("algorithm");
  for (const auto& [name, algorithm] : kAlgorithms)
    if (wanted != config.end() && wanted->second == name) return algorithm;
  throw UserError("'{}' names no convolution algorithm; expected algorithm=direct or winograd", to_text(config));
}

Residual residual_of(const Config& config) {
  const auto wanted = config.find("residual");
  if (wanted == config.end()) return Residual::binary;
  if (wanted->second != "sum") throw UserError("'{}' names no way to add a residual", to_text(config));
  return Residual::sum;
}

std::unique_ptr<Kernel> build(const Workload& given, const Config& config) {
  const Workload workload = turned(given);
  const Problem problem(workload, residual_of(config));
  const PrimitiveDesc pd = choose_implementation(problem.implementations(algorithm_of(config)), config);
  PrimitiveProgram program;
  if (problem.post_ops.summed_input >= 0) {
    program.in_place_input = problem.post_ops.summed_input;
    program.in_place_bytes = static_cast<int64_t>(problem.dst.get_size());
  }
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.src, Source::input, 0},
                                     {DNNL_ARG_DST, problem.dst, Source::output, 0}};
  arguments.push_back(program.packed_input(DNNL_ARG_WEIGHTS, workload, 1, problem.plain_weights, pd.weights_desc()));
  if (workload.has_input(kBias)) arguments.push_back({DNNL_ARG_BIAS, problem.bias, Source::input, kBias});
  arguments.insert(arguments.end(), problem.post_ops.arguments.begin(), problem.post_ops.arguments.end());
  program.steps.push_back({dnnl::convolution_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kConv{serves, offer, build};

}  // namespace attune::onednn
