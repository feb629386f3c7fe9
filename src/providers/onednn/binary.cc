// Elementwise functions of two tensors with broadcasting, in any layout.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

#include <algorithm>

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::binary::primitive_desc;

std::optional<dnnl::algorithm> algorithm_of(const Workload& workload) {
  if (workload.op == "Add") return dnnl::algorithm::binary_add;
  if (workload.op == "Sub") return dnnl::algorithm::binary_sub;
  if (workload.op == "Mul") return dnnl::algorithm::binary_mul;
  if (workload.op == "Div") return dnnl::algorithm::binary_div;
  if (workload.op == "Max" && workload.inputs.size() == 2) return dnnl::algorithm::binary_max;
  if (workload.op == "Min" && workload.inputs.size() == 2) return dnnl::algorithm::binary_min;
  return std::nullopt;
}

/// oneDNN broadcasts the second operand only, so the first must be as large as the result; commutative functions swap.
struct Problem {
  size_t first = 0, second = 1;  // positions of the inputs
  dnnl::memory::desc src0, src1, dst;
  dnnl::algorithm algorithm;

  explicit Problem(const Workload& workload) : algorithm(*algorithm_of(workload)) {
    require_float(workload, {0, 1});
    const TensorSpec& result = workload.output(0);
    if (workload.input(0).dims != result.dims) {
      const bool commutes = algorithm != dnnl::algorithm::binary_sub && algorithm != dnnl::algorithm::binary_div;
      if (!commutes || workload.input(1).dims != result.dims)
        throw UnsupportedError("oneDNN broadcasts one operand only, got {} and {}", to_text(workload.inputs[0]),
                               to_text(workload.inputs[1]));
      std::swap(first, second);
    }
    const size_t rank = std::max<size_t>(result.dims.size(), 1);
    src0 = describe_broadcast(workload.input(first), rank);
    src1 = describe_broadcast(workload.input(second), rank);
    dst = describe_broadcast(result, rank);
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::binary::desc desc(algorithm, src0, src1, dst);
    return list_implementations<PrimitiveDesc>(desc, base_attributes());
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && algorithm_of(workload).has_value(); }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  Offer result;
  for (const Config& config : implementation_configs(Problem(workload).implementations()))
    if (!is_reference(config.at("impl"))) result.configs.push_back(config);  // ours is quicker
  return result;
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const auto pd = choose_implementation(problem.implementations(), config);
  PrimitiveProgram program;
  program.steps.push_back({dnnl::binary(pd),
                           {{DNNL_ARG_SRC_0, problem.src0, Source::input, problem.first},
                            {DNNL_ARG_SRC_1, problem.src1, Source::input, problem.second},
                            {DNNL_ARG_DST, problem.dst, Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kBinary{serves, offer, build};

}  // namespace attune::onednn
