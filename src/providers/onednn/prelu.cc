// PRelu with a slope that broadcasts to the input.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::prelu_forward::primitive_desc;

struct Problem {
  dnnl::memory::desc data, slope;

  explicit Problem(const Workload& workload) {
    require_float(workload, {0, 1});
    const size_t rank = std::max<size_t>(1, workload.input(0).dims.size());
    data = describe(workload.input(0));
    slope = describe_broadcast(workload.input(1), rank);
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::prelu_forward::desc desc(dnnl::prop_kind::forward_inference, data, slope);
    return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "PRelu"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  std::vector<Argument> arguments = {{DNNL_ARG_SRC, problem.data, Source::input, 0},
                                     {DNNL_ARG_DST, problem.data, Source::output, 0}};
  arguments.push_back(program.packed_input(DNNL_ARG_WEIGHTS, workload, 1, problem.slope, pd.weights_desc()));
  program.steps.push_back({dnnl::prelu_forward(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kPRelu{serves, offer, build};

}  // namespace attune::onednn
