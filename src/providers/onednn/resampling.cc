// Upsample by whole factors, each element repeated. (Other ways of Resize choose coordinates as the library does not.)
#include "providers/onednn/family.h"
#include "providers/onednn/implementations.h"
#include "providers/onednn/memory.h"
#include "providers/onednn/primitive_kernel.h"
#include "providers/onednn/window.h"

#include "ops/context.h"

namespace attune::onednn {
namespace {

using PrimitiveDesc = dnnl::resampling_forward::primitive_desc;

/// For a whole factor f the library's nearest element of y, round((y + 0.5) / f - 0.5), is floor(y / f).
void require_whole_factors(const Workload& workload) {
  const Node node = workload.node();
  const OpContext context(node);
  if (context.attr_string("mode", "nearest") != "nearest") throw UnsupportedError("interpolation");
  if (!context.has_attr("scales")) throw UnsupportedError("factors that are not attributes");
  const Dims &from = workload.input(0).dims, &to = workload.output(0).dims;
  const auto& scales = context.attr_floats("scales");
  for (size_t i = 0; i < from.size(); ++i) {
    const auto factor = static_cast<int64_t>(scales.at(i));
    if (static_cast<float>(factor) != scales[i] || factor < 1 || to[i] != from[i] * factor || (i < 2 && factor != 1))
      throw UnsupportedError("factor {} of axis {}; those of positions must be whole, others 1", scales[i], i);
  }
}

std::vector<Implementation<PrimitiveDesc>> implementations(const Workload& workload) {
  const TensorSpec &src = workload.input(0), &dst = workload.output(0);
  require_spatial(src);
  require_float(workload, {0});
  require_whole_factors(workload);
  const dnnl::resampling_forward::desc desc(dnnl::prop_kind::forward_inference, dnnl::algorithm::resampling_nearest,
                                            describe(src), describe(dst));
  return without_references(list_implementations<PrimitiveDesc>(desc, base_attributes()));
}

bool serves(const Workload& workload) { return workload.domain.empty() && workload.op == "Upsample"; }

std::variant<Offer, Refusal> offer(const Workload& workload) {
  return Offer{implementation_configs(implementations(workload))};
}

std::unique_ptr<Kernel> build(const Workload& workload, const Config& config) {
  const PrimitiveDesc pd = choose_implementation(implementations(workload), config);
  PrimitiveProgram program;
  program.steps.push_back({dnnl::resampling_forward(pd),
                           {{DNNL_ARG_SRC, describe(workload.input(0)), Source::input, 0},
                            {DNNL_ARG_DST, describe(workload.output(0)), Source::output, 0}}});
  return std::make_unique<PrimitiveKernel>(std::move(program));
}

}  // namespace

const Family kResampling{serves, offer, build};

}  // namespace attune::onednn
