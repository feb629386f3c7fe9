#include "tune/measure/tolerance.h"

#include "kernel/reorder.h"
#include "ops/convert.h"
#include "ops/epilogue.h"
#include "ops/registry.h"
#include "tune/measure/conv_grad_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attune::tune {
namespace {

ValueType type_of(const std::optional<TensorSpec>& spec) {
  return spec ? ValueType{spec->dtype, to_shape(spec->dims)} : ValueType{};
}

/// One unit in the last place of the coarsest float among the operands, relative to 1; 0 where all have f32 or more.
double narrow_unit(const Workload& workload) {
  double unit = 0;
  for (const auto* specs : {&workload.inputs, &workload.outputs})
    for (const auto& spec : *specs) {
      if (!spec) continue;
      if (spec->dtype == DType::f16) unit = std::max(unit, 0x1p-11);
      if (spec->dtype == DType::bf16) unit = std::max(unit, 0x1p-8);
      if (is_float(spec->dtype) && bit_width(spec->dtype) <= 8) unit = std::max(unit, 0x1p-2);
    }
  return unit;
}

}  // namespace

double count_flops(const Workload& workload) {
  if (is_reorder(workload)) return 0;
  if (is_conv_grad(workload)) {  // each element of the larger side meets each tap of its filter
    const auto elements = [](const TensorSpec& spec) { return static_cast<double>(element_count(spec.dims)); };
    return 2 * elements(workload.input(0)) * elements(workload.input(1));
  }
  const Node node = workload.node();
  const OpDef& op = require_op(node);
  if (op.flops == nullptr) return 0;
  std::vector<ValueType> inputs, outputs;
  for (const auto& spec : workload.inputs) inputs.push_back(type_of(spec));
  for (const auto& spec : workload.outputs) outputs.push_back(type_of(spec));
  return std::max(1.0, op.flops(CostContext(node, inputs, outputs)));
}

ResultTolerance result_tolerance(const Workload& workload, size_t output) {
  const TensorSpec& result = workload.output(output);
  if (!is_float(result.dtype)) {
    const bool rounds =
        workload.op.find("QLinear") != std::string::npos || workload.op.find("Quantize") != std::string::npos;
    return {0, rounds && bit_width(result.dtype) <= 16 ? 1.0 : 0.0};
  }
  const double flops = count_flops(workload);
  if (flops == 0) return {};
  if (result.dtype == DType::f64) return {1e-12, 0};
  const double terms = flops / 2 / std::max(1.0, static_cast<double>(element_count(result.dims)));
  const auto steps = static_cast<double>(parse_epilogue(workload.attributes).size());
  const double of_largest = std::max(1e-5, 0x1p-24 * std::sqrt(terms)) + narrow_unit(workload) * (2 + steps);
  const bool logarithm = workload.op == "LogSoftmax" || workload.op.starts_with("ReduceLogSum");
  return {of_largest, logarithm ? of_largest : 0};
}

namespace {

/// `got(i)` and `want(i)` are elements as doubles.
template <class Got, class Want>
Comparison compare_elements(int64_t count, const ResultTolerance& tolerance, Got&& got, Want&& want) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const double value = std::abs(want(i)); std::isfinite(value)) largest = std::max(largest, value);
  const double allowed = tolerance.absolute + tolerance.of_largest * largest;
  Comparison result;
  double worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double g = got(i), w = want(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double error = std::abs(g - w);
    worst = std::max(worst, std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
    if (error <= allowed || !result.difference.empty()) continue;
    result.difference = fmt::format("element {} of {}: got {}, want {} (largest {}, allowed difference {})", i, count,
                                    g, w, largest, allowed);
  }
  result.max_error = largest > 0 ? worst / largest : worst;
  return result;
}

}  // namespace

Comparison compare_results(const Tensor& got, const Tensor& want, const ResultTolerance& tolerance) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims())
    return {fmt::format("got {}[{}], want {}[{}]", dtype_name(got.dtype()), to_text(got.dims()),
                        dtype_name(want.dtype()), to_text(want.dims())),
            std::numeric_limits<double>::infinity()};
  if (got.dtype() == DType::f32) {  // the usual one, without a look at the dtype for each element
    const float *g = got.data<float>(), *w = want.data<float>();
    return compare_elements(
        want.count(), tolerance, [g](int64_t i) { return static_cast<double>(g[i]); },
        [w](int64_t i) { return static_cast<double>(w[i]); });
  }
  return compare_elements(
      want.count(), tolerance, [&](int64_t i) { return element_as_double(got, i); },
      [&](int64_t i) { return element_as_double(want, i); });
}

}  // namespace attune::tune
