// LRN across channels.
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::lrn_forward::primitive_desc;

std::vector<Implementation<PrimitiveDesc>> implementations(const Workload& workload) {
  require_float(workload, {0});
  if (workload.input(0).dims.size() != 4) throw UnsupportedError("rank 4, got {}", to_text(workload.inputs[0]));
  const Node node = workload.node();
  const OpContext context(node);
  const int64_t size = context.attr_int("size");
  if (size % 2 == 0) throw UnsupportedError("an even window of {} channels has no middle for oneDNN", size);
  const dnnl::lrn_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::lrn_across_channels,
                                     describe(workload.input(0)), size, context.attr_float("alpha", 1e-4F),
                                     context.attr_float("beta", 0.75F), context.attr_float("bias", 1.0F));
  return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
}

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "LRN"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(implementations(workload))};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const PrimitiveDesc pd = choose_implementation(implementations(workload), config);
  PrimitiveProgram program;
  program.steps.push_back({dnnl::lrn_forward(pd),
                           {{DNNL_ARG_SRC, describe(workload.input(0)), Source::input, 0},
                            {DNNL_ARG_DST, describe(workload.output(0)), Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kLrn{serves, offer, build};

}  // namespace attune::onednn
