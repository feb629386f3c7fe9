// Batch, instance, group, layer, RMS, Lp and mean-variance normalization: the list, and what the parts share.
#include "ops/families.h"
#include "ops/normalization_parts.h"

namespace attune {

void infer_like_input(InferContext& context, int64_t least_rank) {
  const auto& shape = context.shape(0);
  if (shape && static_cast<int64_t>(shape->size()) < least_rank)
    context.fail("the input is {}, expected a rank of at least {}", to_text(*shape), least_rank);
  context.copy_type(0, 0);
}

void require_vector(const KernelContext& context, int i, int64_t count) {
  const Tensor& tensor = context.input(i);
  if (tensor.rank() != 1 || tensor.count() != count)
    context.fail("input {} is {}, expected a vector of {}", i, to_text(tensor.dims()), count);
}

double norm_flops(const CostContext& context) { return 5 * context.input_elements(0); }

std::span<const OpDef> normalization_ops() {
  static const OpDef ops[] = {
      {.domain = "",
       .name = "BatchNormalization",
       .since = 1,
       .inputs = {5, 5},
       .outputs = {1, 5},
       .layout_class = LayoutClass::decides_speed,
       .infer = infer_batch_normalization,
       .kernel = run_batch_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "InstanceNormalization",
       .since = 1,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_speed,
       .infer = infer_instance_normalization,
       .kernel = run_instance_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "GroupNormalization",
       .since = 18,
       .inputs = {3, 3},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_speed,
       .infer = infer_group_normalization,
       .kernel = run_group_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "LayerNormalization",
       .since = 1,  // standard since 17; runtimes wrote it into older models as an extension of the same meaning
       .inputs = {2, 3},
       .outputs = {1, 3},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_layer_normalization,
       .kernel = run_layer_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "RMSNormalization",
       .since = 23,
       .inputs = {2, 2},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_rms_normalization,
       .kernel = run_rms_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "LpNormalization",
       .since = 1,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_lp_normalization,
       .kernel = run_lp_normalization,
       .flops = norm_flops},
      {.domain = "",
       .name = "MeanVarianceNormalization",
       .since = 9,
       .inputs = {1, 1},
       .outputs = {1, 1},
       .layout_class = LayoutClass::decides_function,
       .infer = infer_mean_variance_normalization,
       .kernel = run_mean_variance_normalization,
       .flops = norm_flops},
  };
  return ops;
}

}  // namespace attune
