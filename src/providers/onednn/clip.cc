// Clip with bounds as inputs, as opsets from 11 on give them: a maximum and a minimum with one number each.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::binary::primitive_desc;

constexpr size_t kLow = 1, kHigh = 2;

/// The first bound is the primitive itself, the second one its post-op.
struct Problem {
  size_t first;
  bool both;
  dnnl::memory::desc data, bound;
  dnnl::primitive_attr attributes = base_attributes();

  explicit Problem(const Workload& workload)
      : first(workload.has_input(kLow) ? kLow : kHigh), both(workload.has_input(kLow) && workload.has_input(kHigh)) {
    require_float(workload, {0});
    if (!workload.has_input(first)) throw UnsupportedError("bounds as attributes, or none");
    for (const size_t i : {kLow, kHigh})
      if (workload.has_input(i) &&
          (workload.input(i).dtype != workload.input(0).dtype || element_count(workload.input(i).dims) != 1))
        throw UnsupportedError("a bound must be one number of the input's type, got {}", to_text(workload.inputs[i]));
    data = describe(workload.input(0));
    bound = describe_plain(workload.input(0).dtype, Dims(std::max<size_t>(1, workload.input(0).dims.size()), 1));
    if (!both) return;
    dnnl::post_ops ops;
    ops.append_binary(dnnl::algorithm::binary_min, bound);
    attributes.set_post_ops(ops);
  }
  std::vector<Implementation<PrimitiveDesc>> implementations() const {
    const dnnl::binary::desc desc(first == kLow ? dnnl::algorithm::binary_max : dnnl::algorithm::binary_min, data,
                                  bound, data);
    return without_references(list_implementations<PrimitiveDesc>(desc, attributes));
  }
};

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "Clip"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(Problem(workload).implementations())};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const Problem problem(workload);
  const PrimitiveDesc pd = choose_implementation(problem.implementations(), config);
  std::vector<Argument> arguments = {{DNNL_ARG_SRC_0, problem.data, Source::input, 0},
                                     {DNNL_ARG_SRC_1, problem.bound, Source::input, problem.first},
                                     {DNNL_ARG_DST, problem.data, Source::output, 0}};
  if (problem.both)
    arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, problem.bound, Source::input, kHigh});
  PrimitiveProgram program;
  program.steps.push_back({dnnl::binary(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kClip{serves, offer, build};

}  // namespace attune::onednn
