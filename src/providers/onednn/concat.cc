// Concat in any layout.
#include "providers/onednn/family.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::concat::primitive_desc;

PrimitiveDesc make(const Workload& workload) {
  const Node node = workload.node();
  const OpContext context(node);
  const auto axis =
      context.axis_in_range(context.attr_int("axis"), static_cast<int64_t>(workload.output(0).dims.size()));
  std::vector<dnnl::memory::desc> sources;
  for (size_t i = 0; i < workload.inputs.size(); ++i) sources.push_back(describe(workload.input(i)));
  return {describe(workload.output(0)), static_cast<int>(axis), sources, engine(), base_attributes()};
}

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "Concat"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const std::string name = make(workload).impl_info_str();
  if (name.find("ref") != std::string::npos) return refuse("oneDNN has only its reference for this concat");
  return Offer{{{{"impl", name}}}};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const PrimitiveDesc pd = make(workload);
  const auto wanted = config.find("impl");
  if (wanted == config.end() || wanted->second != pd.impl_info_str())
    throw UserError("oneDNN has one implementation of this concat, '{}'", pd.impl_info_str());
  std::vector<Argument> arguments = {{DNNL_ARG_DST, pd.dst_desc(), Source::output, 0}};
  for (size_t i = 0; i < workload.inputs.size(); ++i)
    arguments.push_back(
        {DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), pd.src_desc(static_cast<int>(i)), Source::input, i});
  PrimitiveProgram program;
  program.steps.push_back({dnnl::concat(pd), std::move(arguments)});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kConcat{serves, offer, build};

}  // namespace attune::onednn
