// Softmax and LogSoftmax along one axis.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

constexpr int kFirstAxisOpset = 13;  // before it the axis cut the tensor into a matrix

/// The operand as softmax sees it: dims and the axis of the sum.
struct Problem {
  Dims dims;
  int axis = 0;
  DType dtype;
  bool logarithm;

  explicit Problem(const Workload& workload)
      : dims(workload.input(0).dims), dtype(workload.input(0).dtype), logarithm(workload.op == "LogSoftmax") {
    require_float(workload, {0});
    if (workload.input(0).layout != Layout::plain)
      throw UnsupportedError("softmax in layout {}", layout_name(workload.input(0).layout));
    const Node node = workload.node();
    const OpContext context(node);
    const bool flattens = workload.version < kFirstAxisOpset;
    const int64_t at =
        context.axis_in_range(context.attr_int("axis", flattens ? 1 : -1), static_cast<int64_t>(dims.size()));
    // Only three groups matter: what is before the axis, the axis, what is behind it.
    int64_t before = 1, behind = 1;
    for (int64_t i = 0; i < at; ++i) before *= dims[static_cast<size_t>(i)];
    for (size_t i = static_cast<size_t>(at) + 1; i < dims.size(); ++i) behind *= dims[i];
    const int64_t length = dims[static_cast<size_t>(at)];
    dims = flattens ? Dims{before, length * behind} : behind == 1 ? Dims{before, length} : Dims{before, length, behind};
    axis = 1;
  }
};

template <class PrimitiveDesc> std::vector<Implementation<PrimitiveDesc>> implementations(const Problem& problem) {
  using Desc = std::conditional_t<std::is_same_v<PrimitiveDesc, dnnl::softmax_forward::primitive_desc>,
                                  dnnl::softmax_forward::desc, dnnl::logsoftmax_forward::desc>;
  const Desc desc(dnnl::prop_kind::forward_inference, describe_plain(problem.dtype, problem.dims), problem.axis);
  return list_implementations<PrimitiveDesc>(desc, base_attributes());
}

bool serves(const Workload& workload) {
  return workload.domain.empty() && (workload.op == "Softmax" || workload.op == "LogSoftmax");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const Problem problem(workload);
  if (problem.logarithm)
    return Offer{implementation_configs(implementations<dnnl::logsoftmax_forward::primitive_desc>(problem))};
  return Offer{implementation_configs(implementations<dnnl::softmax_forward::primitive_desc>(problem))};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const auto desc = describe_plain(problem.dtype, problem.dims);
  const std::vector<Argument> arguments = {{DNNL_ARG_SRC, desc, Source::input, 0},
                                           {DNNL_ARG_DST, desc, Source::output, 0}};
  PrimitiveProgram program;
  if (problem.logarithm)
    program.steps.push_back({dnnl::logsoftmax_forward(choose_implementation(
                                 implementations<dnnl::logsoftmax_forward::primitive_desc>(problem), config)),
                             arguments});
  else
    program.steps.push_back({dnnl::softmax_forward(choose_implementation(
                                 implementations<dnnl::softmax_forward::primitive_desc>(problem), config)),
                             arguments});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kSoftmax{serves, offer, build};

}  // namespace attune::onednn
