// Conv.
#include "ops/conv_float.h"
#include "ops/dispatch.h"
#include "ops/families.h"
#include "ops/wide_tensor.h"

namespace attune {
namespace {

void infer_conv(InferContext& context) {
  const DType dtype = context.dtype(0);
  for (int i = 1; i < context.input_count(); ++i)
    if (context.has_input(i) && context.dtype(i) != dtype && context.dtype(i) != DType::undefined)
      context.fail("inputs 0 and {} have different dtypes, {} and {}", i, dtype_name(dtype),
                   dtype_name(context.dtype(i)));
  const auto& weights = context.shape(1);
  const std::optional<Shape> result = conv_output_shape(context, context.shape(0), weights);
  if (context.has_input(2) && context.shape(2)) {
    const Shape& bias = *context.shape(2);
    if (bias.size() != 1) context.fail("bias has rank {}, expected 1", bias.size());
    if (weights && bias[0].is_known() && (*weights)[0].is_known() && bias[0].value() != (*weights)[0].value())
      context.fail("bias has {} elements for {} output channels", bias[0].value(), (*weights)[0].value());
  }
  context.set_output(0, dtype, result);
}

void run_conv(KernelContext& context) {
  Tensor& output = context.output(0);
  if (output.count() == 0) return;
  const Tensor src = widened(context.input(0)), weights = widened(context.input(1));
  const Tensor bias = context.has_input(2) ? widened(context.input(2)) : Tensor();
  Tensor dst = wide_output(output);
  const ConvGeometry geometry = conv_geometry(context, src.dims(), weights.dims());
  dispatch<TypeList<float, double>>(dst.dtype(), context, [&]<class T>() {
    convolve(geometry, src.data<T>(), weights.data<T>(), bias.empty() ? nullptr : bias.data<T>(),
             dst.mutable_data<T>());
  });
  narrow(dst, output);
}

double conv_flops(const CostContext& context) {
  const Dims weights = context.input_dims(1);
  if (weights.empty() || weights[0] == 0) return 0;
  return 2.0 * context.output_elements(0) * context.input_elements(1) / static_cast<double>(weights[0]);
}

const OpDef kOps[] = {
    {.domain = "",
     .name = "Conv",
     .since = 1,
     .inputs = {2, 3},
     .outputs = {1, 1},
     .layout_class = LayoutClass::decides_speed,
     .infer = infer_conv,
     .kernel = run_conv,
     .flops = conv_flops},
};

}  // namespace

std::span<const OpDef> conv_ops() { return kOps; }

}  // namespace attune
