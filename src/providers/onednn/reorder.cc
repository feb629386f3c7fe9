// Reorders: the conversions between layouts that planning puts between nodes, and casts between f32 and bf16.
#include "kernel/reorder.h"

#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"

namespace attune::onednn {
namespace {

bool is_wide_float(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

dnnl::reorder::primitive_desc describe_reorder(const Workload& workload) {
  const TensorSpec &from = workload.input(0), &to = workload.output(0);
  if (from.dtype != to.dtype && !(is_wide_float(from.dtype) && is_wide_float(to.dtype)))
    throw UnsupportedError("oneDNN's conversion of {} into {} is not the one of ONNX", dtype_name(from.dtype),
                           dtype_name(to.dtype));
  return {engine(), describe(from), engine(), describe(to), base_attributes()};
}

bool serves(const Workload& workload) {
  return is_reorder(workload) || (workload.domain.empty() && workload.op == "Cast");
}

std::variant<Offer, Refusal> offer(const Workload& workload) {
  const std::string name = describe_reorder(workload).impl_info_str();
  if (is_reference(name)) return refuse("oneDNN has only its reference implementation for this reorder");
  return Offer{{{{"impl", name}}}};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const auto pd = describe_reorder(workload);
  choose_implementation<dnnl::reorder::primitive_desc>({{pd.impl_info_str(), pd}}, config);
  PrimitiveProgram program;
  program.steps.push_back({dnnl::reorder(pd),
                           {{DNNL_ARG_FROM, describe(workload.input(0)), Source::input, 0},
                            {DNNL_ARG_TO, describe(workload.output(0)), Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kReorder{serves, offer, build};

}  // namespace attune::onednn
