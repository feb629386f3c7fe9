// LayerNormalization over the last axes, without the optional statistics.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::layer_normalization_forward::primitive_desc;
using Flags = dnnl::normalization_flags;

struct Problem {
  dnnl::memory::desc data, scale;
  float epsilon = 0;
  Flags flags = Flags::use_scale;

  explicit Problem(const Workload& workload) {
    require_float(workload, {0});
    if (workload.input(0).layout != Layout::plain)
      throw UnsupportedError("layer normalisation in layout {}", layout_name(workload.input(0).layout));
    for (size_t i = 1; i < workload.outputs.size(); ++i)
      if (workload.outputs[i]) throw UnsupportedError("statistics as outputs");
    const Node node = workload.node();
    const OpContext context(node);
    const Dims& dims = workload.input(0).dims;
    const int64_t axis = context.axis_in_range(context.attr_int("axis", -1), static_cast<int64_t>(dims.size()));
    int64_t rows = 1, length = 1;
    for (size_t i = 0; i < dims.size(); ++i) (static_cast<int64_t>(i) < axis ? rows : length) *= dims[i];
    for (size_t i = 1; i < workload.inputs.size(); ++i) {
      if (!workload.inputs[i]) continue;
      require_float(workload, {i});
      if (element_count(workload.input(i).dims) != length)
        throw UnsupportedError("scale and bias must be as long as the normalised axes");
    }
    epsilon = context.attr_float("epsilon", 1e-5f);
    data = describe_plain(workload.input(0).dtype, {rows, length});
    scale = describe_plain(DType::f32, {length});
    if (workload.has_input(2)) flags |= Flags::use_shift;
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::layer_normalization_forward::desc desc(dnnl::prop_kind::forward_inference, data, epsilon, flags);
    return list_implementations<PrimitiveDesc>(desc, base_attributes());
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "LayerNormalization"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const auto pd = choose_implementation(problem.implementations(), config);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.data, Source::input, 0},
                                     {DNNL_ARG_DST, problem.data, Source::output, 0}};
  PrimitiveProgram program;
  // The library takes scale and shift in f32 alone, whatever it normalises.
  const auto add_factor = [&](int id, size_t input) {
    const auto given = describe_plain(workload.input(input).dtype, problem.scale.dims());
    arguments.push_back(program.packed_input(id, workload, input, given, problem.scale));
  };
  add_factor(DNNL_ARG_SCALE, 1);
  if (workload.has_input(2)) add_factor(DNNL_ARG_SHIFT, 2);
  program.steps.push_back({dnnl::layer_normalization_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kLayerNorm{serves, offer, build};

}  // namespace attune::onednn
